// Background: tasks that keep the workers busy, and post themselves again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "../../pool_completion.hpp"

namespace bench {

/// Keeps the workers busy until stop(); then each of the tasks must come to its end once.
template <class Subject>
class Background {
 public:
  using Clock = std::chrono::steady_clock;
  Background(Subject& subject, std::int64_t tasks, Clock::duration work)
      : subject_(subject), work_(work), ended_(tasks) {
    for (std::int64_t i = 0; i < tasks; ++i) subject_.post_background(Task{this});
  }
  void stop() noexcept {
    stopped_.store(true, std::memory_order_relaxed);
    ended_.wait();
  }

 private:
  struct Task {
    Background* background;
    void operator()() const { background->step(*this); }
  };

  void step(const Task& task) {
    if (stopped_.load(std::memory_order_relaxed)) return ended_.add(1);
    work();
    if constexpr (requires { subject_.post_background_inside(task); }) {
      subject_.post_background_inside(task);
    } else {
      subject_.post_background(task);
    }
  }

  void work() const noexcept {
    const auto end = Clock::now() + work_;
    while (Clock::now() < end) {
    }
  }

  Subject& subject_;
  Clock::duration work_;
  PoolCompletion ended_;
  std::atomic<bool> stopped_{false};
};

}  // namespace bench
