// Grid: the fixed times at which tasks are to be posted, whatever became of those before.
#pragma once

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace bench {

/// Of the measuring thread, which sleeps in between: the processors belong to what is measured.
class Grid {
 public:
  using Clock = std::chrono::steady_clock;

  Grid(Clock::time_point begin, Clock::duration interval) noexcept
      : begin_(begin), interval_(interval) {
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // by default sleeps may end 50 us late
  }

  [[nodiscard]] Clock::time_point point(std::int64_t index) const noexcept {
    return begin_ + index * interval_;
  }
  /// Waits for a point, if it is still to come.
  void wait_for(std::int64_t index) noexcept {
    if (Clock::now() >= point(index)) return;
    sleep_until(point(index));
    awake_ = Clock::now();
  }
  /// From when on the delay of what is posted at a point counts: from the point, if the thread was
  /// awake, so that a post that takes long makes the next ones late; otherwise from when the kernel
  /// woke it.
  [[nodiscard]] Clock::time_point due(std::int64_t index) const noexcept {
    return std::max(point(index), awake_);
  }

 private:
  static void sleep_until(Clock::time_point point) noexcept {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(point.time_since_epoch());
    const std::chrono::nanoseconds rest = point.time_since_epoch() - seconds;
    const timespec until{.tv_sec = seconds.count(), .tv_nsec = rest.count()};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }

  Clock::time_point begin_;
  Clock::duration interval_;
  Clock::time_point awake_ = begin_;
};

}  // namespace bench
