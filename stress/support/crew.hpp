// Crew: a few threads that start something at the same moment, round after round.
#pragma once

#include <cstddef>
#include <functional>
#include <heist/detail/sync.hpp>
#include <thread>
#include <vector>

namespace heist::stress {

using namespace detail;

/// A meeting point of a fixed number of threads. It spins, so that all leave at nearly the same
/// moment.
///
/// Edge: every arrival happens before every leave. Each arrival is one read-modify-write, and the
/// generation follows them.
class Meeting {
 public:
  explicit Meeting(std::size_t size) noexcept : size_(size) {}

  void arrive_and_wait() noexcept {
    // relaxed: it changes only after we have arrived.
    const auto generation = generation_.load(sync::relaxed);
    if (arrived_.fetch_add(1, sync::edge("stress:arrive", sync::acq_rel)) + 1 == size_) {
      arrived_.store(0, sync::relaxed);  // relaxed: the generation publishes it.
      generation_.store(generation + 1, sync::edge("stress:open", sync::release));
      return;
    }
    while (generation_.load(sync::edge("stress:enter", sync::acquire)) == generation) {
      std::this_thread::yield();
    }
  }

 private:
  const std::size_t size_;
  sync::atomic<std::size_t> arrived_{0};
  sync::atomic<std::size_t> generation_{0};
};

/// The calling thread and `size - 1` others. run() calls `job(member)` on all of them at once, and
/// returns when all have finished. That is a quiet point.
class Crew {
 public:
  explicit Crew(std::size_t size) : start_(size), end_(size) {
    for (std::size_t member = 1; member < size; ++member) {
      threads_.emplace_back([this, member] { serve(member); });
    }
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    job_ = nullptr;
    start_.arrive_and_wait();
  }

  void run(const std::function<void(std::size_t)>& job) {
    job_ = &job;
    start_.arrive_and_wait();
    job(0);
    end_.arrive_and_wait();
  }

 private:
  void serve(std::size_t member) {
    for (;;) {
      start_.arrive_and_wait();
      if (job_ == nullptr) return;
      (*job_)(member);
      end_.arrive_and_wait();
    }
  }

  Meeting start_;
  Meeting end_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::vector<std::jthread> threads_;
};

}  // namespace heist::stress
