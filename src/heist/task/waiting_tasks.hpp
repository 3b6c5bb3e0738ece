// WaitingTasks: tasks that wait for their time, or for the resume of their scheduler.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <heist/detail/scheduler_task.hpp>
#include <optional>

#include "../concurrent/own_count.hpp"
#include "../concurrent/own_histogram.hpp"
#include "delay_wheels.hpp"
#include "ended_limits.hpp"
#include "loop_clock.hpp"
#include "scheduler_core.hpp"
#include "tick_reader.hpp"

namespace HEIST_NAMESPACE::detail {

/// Holds the tasks of a loop or a cluster that stand in no queue: delayed tasks, tasks of suspended
/// schedulers, and time limits of signals that have ended (they are picked before any task).
///
/// Roles   owner: a loop's agent, a cluster's keeper. It makes every call but size() and held().
/// I1      A delay ends in the loop's wheel, or, from the first suspension of its scheduler on, in
///         the scheduler's own delays (SchedulerDelays). These have one task in the loop's wheel,
///         which stands for the first of them.
/// Proof   tests/loop/delay_test.cpp, tests/loop/suspended_delays_test.cpp
class WaitingTasks {
 public:
  /// How many delays one pick ends, or moves down in the wheel.
  static constexpr unsigned expiry_portion = 4096;

  /// `time` is the loop's or the cluster's.
  explicit WaitingTasks(const LoopTime& time) noexcept : time_(time), ticks_(time) {}

  /// Arms a delayed task that arrives.
  void arm(SchedulerTask& task) noexcept {
    if (task.is_time_limit || task.scheduler->delays) [[unlikely]]
      return arm_otherwise(task);
    arm_in_wheel(task);
  }
  /// Ends the delays that are over: time limits go to limits(), and runnable(SchedulerTask&) is
  /// called for each task. Each wheel takes at most `most` steps; the rest is due at the next call.
  template <class Runnable>
  void expire(Runnable&& runnable, unsigned most = expiry_portion) noexcept {
    if (!has_due_delay()) return;
    const Tick now = ticks_.now();
    Tick first = no_tick;
    const auto end = [&](LoopNode& node) noexcept {
      auto& task = static_cast<SchedulerTask&>(node);
      first = std::min(first, node.key);
      if (task.is_time_limit) return limits_.push(task);
      task.scheduler->delays ? keep_delayed(task) : runnable(task);
    };
    delays_.expire(now, end, most);
    if (first != no_tick) note_lateness(first);
    if (ended_delays_ != nullptr) expire_schedulers(runnable, most);
  }
  /// Does the same for time limits only.
  void expire_limits() noexcept;
  /// Takes a task back. Returns false when it does not wait here.
  [[nodiscard]] bool withdraw(SchedulerTask& task) noexcept;

  /// Holds back a task that came up for a pick while its scheduler is suspended.
  void hold(SchedulerTask& task) noexcept;
  /// Suspends a scheduler. `at` is when that was asked for, on the clock of this home. Returns
  /// false when the scheduler is suspended already.   Precondition: it has its delays.
  bool suspend(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept;
  /// Resumes a scheduler, with `at` as above. Returns false when it is not suspended.
  bool resume(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept;
  [[nodiscard]] bool has_suspensions() const noexcept { return suspended_schedulers_ != 0; }

  [[nodiscard]] EndedLimits& limits() noexcept { return limits_; }
  [[nodiscard]] const EndedLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] const DelayWheels& delays() const noexcept { return delays_; }
  /// Whether an armed delay has ended.   Cost: as TickReader's, if any delay is armed; each pick
  /// asks.
  [[nodiscard]] bool has_due_delay() noexcept {
    return !delays_.empty() && delays_.next_expiry() <= ticks_.now();
  }
  /// When the next delay here ends, or nothing if the clock is virtual, because others move that.
  [[nodiscard]] std::optional<LoopTime::Clock::time_point> next_deadline() const noexcept {
    if (time_.is_virtual()) return std::nullopt;
    return time_.steady_start_of(delays_.next_expiry());
  }
  /// By how much the first delay to end was late, each time that some were found to have ended, in
  /// nanoseconds.   Thread: any.
  [[nodiscard]] const OwnHistogram& lateness() const noexcept { return lateness_; }
  /// How many tasks wait for a resume, or in their schedulers' own delays.   Thread: any.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  /// The number of all tasks and limits here.   Thread: any; others than the owner see the number
  /// of a moment ago.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::size_t all = limits_.size() + delays_.size() + held_;
    return all > wakes_ ? all - wakes_ : 0;
  }

  // What a close calls.

  /// Arms no more wakes for schedulers' own delays from now on.
  void end_wakes() noexcept { arms_wakes_ = false; }
  void disarm_wake(SchedulerCore& scheduler) noexcept;
  /// Takes out all delays but schedulers' own ones.
  template <class Take>
  void drain_delays(Take&& take) noexcept {
    delays_.drain([&](LoopNode& node) noexcept {
      auto& task = static_cast<SchedulerTask&>(node);
      task.place = TaskPlace::elsewhere;
      take(task);
    });
  }
  /// Takes out a scheduler's own delays, one at a time: `take(SchedulerTask&)` may run users'
  /// destructors, and these find the rest here.
  template <class Take>
  void drain_delayed(SchedulerCore& scheduler, Take&& take) noexcept {
    disarm_wake(scheduler);
    if (!scheduler.delays) return;
    scheduler.delays->drain([&](SchedulerTask& task) noexcept {
      --held_;
      take(task);
    });
  }

 private:
  void note_lateness(Tick first) noexcept {
    const auto late = time_.now() - time_.start_of(first);
    lateness_.count(late.count() > 0 ? static_cast<std::uint64_t>(late.count()) : 0);
  }
  void arm_in_wheel(SchedulerTask& task) noexcept {
    task.place = TaskPlace::delayed;
    delays_.arm(task, time_.tick_from(task.key));
  }
  void arm_otherwise(SchedulerTask& task) noexcept;
  void release_held(SchedulerTask& task) noexcept;
  void keep_delayed(SchedulerTask& task) noexcept;
  void arm_wake(SchedulerCore& scheduler) noexcept;
  template <class Runnable>
  void expire_schedulers(Runnable& runnable, std::size_t most) noexcept {
    while (SchedulerCore* scheduler = ended_delays_) {
      auto& delays = *scheduler->delays;
      ended_delays_ = delays.next_ended;
      delays.may_have_ended = false;
      const auto end = [&](SchedulerTask& task) noexcept {
        --held_;
        runnable(task);
      };
      delays.expire(time_.now(), end, most);
      arm_wake(*scheduler);
    }
  }

  const LoopTime& time_;
  TickReader ticks_;
  DelayWheels delays_;
  EndedLimits limits_;
  std::size_t suspended_schedulers_ = 0;
  OwnCount held_;                          ///< tasks that are held back, or in SchedulerDelays
  OwnCount wakes_;                         ///< how many of the delays are SchedulerDelays::wake
  SchedulerCore* ended_delays_ = nullptr;  ///< a list of those whose own delays may have ended
  bool arms_wakes_ = true;
  OwnHistogram lateness_;
};

}  // namespace HEIST_NAMESPACE::detail
