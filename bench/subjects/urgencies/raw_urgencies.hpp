// raw_polled: the floor of urgent and urgent_polled. Two threads, each with background tasks of its
// own, look at one word between two of these, or within them: that is when an urgent task could
// start at the earliest.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

class RawUrgencies {
 public:
  static constexpr const char* name = "raw_polled";
  RawUrgencies() {
    for (auto& thread : threads_) thread = std::thread([this] { run(); });
  }
  RawUrgencies(const RawUrgencies&) = delete;
  RawUrgencies& operator=(const RawUrgencies&) = delete;
  ~RawUrgencies() {
    stop_.store(true, std::memory_order_relaxed);
    for (auto& thread : threads_) thread.join();
  }
  /// By one thread, and at most as often as there are slots.
  template <class F>
  void post_urgent(F&& f) {
    const std::size_t next = posted_.load(std::memory_order_relaxed);
    if (next == urgent_.size()) std::abort();
    urgent_[next] = std::forward<F>(f);
    posted_.store(next + 1, std::memory_order_release);
  }
  template <class F>
  void post_background(F&& f) {
    const std::lock_guard lock(mutex_);
    outside_.emplace_back(std::forward<F>(f));
  }
  template <class F>
  void post_background_inside(F&& f) {
    own_->emplace_back(std::forward<F>(f));
  }
  /// Called between two background tasks, and within one that polls.
  void run_urgent() {
    std::size_t next = taken_.load(std::memory_order_relaxed);
    while (next != posted_.load(std::memory_order_acquire)) {
      if (taken_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) urgent_[next]();
    }
  }

 private:
  using Task = std::function<void()>;
  using Queue = std::deque<Task>;
  static constexpr std::size_t at_a_time = 1000;

  void run() {
    Queue own;
    own_ = &own;
    for (;;) {
      run_urgent();
      if (own.empty() && !fetch(own)) {
        if (stop_.load(std::memory_order_relaxed)) return;
        continue;
      }
      const Task task = std::move(own.front());
      own.pop_front();
      task();
    }
  }
  /// Takes tasks that were posted from outside. Returns false when there are none.
  bool fetch(Queue& own) {
    const std::lock_guard lock(mutex_);
    while (!outside_.empty() && own.size() < at_a_time) {
      own.push_back(std::move(outside_.front()));
      outside_.pop_front();
    }
    return !own.empty();
  }

  static inline thread_local Queue* own_ = nullptr;
  std::vector<Task> urgent_ = std::vector<Task>(std::size_t{1} << 14);
  alignas(64) std::atomic<std::size_t> posted_{0};
  alignas(64) std::atomic<std::size_t> taken_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  Queue outside_;
  std::array<std::thread, 2> threads_;
};

}  // namespace bench
