// DelayWheels: the delays of a loop's tasks, and apart from them the time limits of its signals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <heist/detail/scheduler_task.hpp>

#include "timer_wheel.hpp"

namespace HEIST_NAMESPACE::detail {

/// There are two wheels, so that a time limit never waits while many delays that end at one moment
/// are handed out in portions (DLY-6).
///
/// Roles   agent: the loop's; in a cluster the keeper. It makes every call but size().
/// Bound   16 KiB a wheel.
class DelayWheels {
 public:
  void arm(SchedulerTask& task, Tick expiry) noexcept {
    ++armed_;
    wheel_of(task).arm(task, expiry);
  }
  void cancel(SchedulerTask& task) noexcept {
    --armed_;
    wheel_of(task).cancel(task);
  }

  /// Hands out what has ended by now, time limits first, as TimerWheel::expire() does. Each wheel
  /// takes at most `most` steps.
  template <class End>
  void expire(Tick now, End&& end, std::size_t most) noexcept {
    expire_limits(now, end, most);
    if (now >= tasks_.next_expiry()) armed_ -= tasks_.expire(now, end, most);
  }
  template <class End>
  void expire_limits(Tick now, End&& end, std::size_t most) noexcept {
    if (now >= limits_.next_expiry()) armed_ -= limits_.expire(now, end, most);
  }
  /// Takes everything out, for a close.
  template <class Take>
  void drain(Take&& take) noexcept {
    limits_.drain(take);
    tasks_.drain(take);
    armed_ = 0;
  }

  [[nodiscard]] Tick next_expiry() const noexcept {
    return std::min(tasks_.next_expiry(), limits_.next_expiry());
  }
  /// Cost: one load; each pick asks.
  [[nodiscard]] bool empty() const noexcept { return armed_ == 0; }
  [[nodiscard]] bool has_limits() const noexcept { return !limits_.empty(); }
  /// The tick to which the tasks' wheel has come. The clock may be further on.
  [[nodiscard]] Tick now() const noexcept { return tasks_.now(); }
  /// Thread: any.
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size() + limits_.size(); }
  /// Checks both wheels by a walk over them; for tests.
  [[nodiscard]] bool check_invariants() const {
    return tasks_.check_invariants() && limits_.check_invariants() && armed_ == size();
  }

 private:
  [[nodiscard]] TimerWheel& wheel_of(const SchedulerTask& task) noexcept {
    return task.is_time_limit ? limits_ : tasks_;
  }

  std::size_t armed_ = 0;  ///< nodes in both wheels; in expire() also those just handed out
  TimerWheel tasks_;
  TimerWheel limits_;
};

}  // namespace HEIST_NAMESPACE::detail
