// TaskScheduler, SignalScheduler, as_scheduler: a Heist scheduler as one of std::execution.
#pragma once

#include <heist/delay.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/in_place_task.hpp>
#include <heist/execution/delay_sender.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/schedule_sender.hpp>
#include <heist/priority.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_signal.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// A scheduler in the sense of std::execution: what is scheduled runs as tasks on a loop, or on any
/// agent of a cluster. Two are equal if loop and priority are the same.
///
/// The priority is its own one, else that of `get_priority` in the receiver's environment, else
/// that of a TaskSignal there (`get_signal`), else user-visible.
///
/// Spec:     contract SND-1 to SND-5.
/// Thread:   any.   Cost: schedule() and its operation allocate nothing without a signal.
/// Lifetime: its loop or cluster, or a heist::Scheduler of that, outlives it, its senders, and
///           their operations until they have started.
class TaskScheduler {
 public:
  using scheduler_concept = SchedulerTag;

  [[nodiscard]] ScheduleSender<TaskScheduler> schedule() const noexcept {
    return ScheduleSender<TaskScheduler>(*this);
  }

  /// The clock of its loop or cluster, on which delays end; a virtual one counts from zero.
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept {
    return detail::time_at(*core_);
  }
  /// As schedule(), a time after the operation has started; or once that time has come.
  [[nodiscard]] DelaySender<TaskScheduler, WaitFor> schedule_after(Delay delay) const noexcept {
    return {*this, WaitFor{delay}};
  }
  [[nodiscard]] DelaySender<TaskScheduler, WaitUntil> schedule_at(
      std::chrono::steady_clock::time_point time) const noexcept {
    return {*this, WaitUntil{time}};
  }
  /// What has begun goes on, whatever else is there: starving by priorities comes before that.
  [[nodiscard]] static constexpr auto query(ex::get_forward_progress_guarantee_t /*q*/) noexcept {
    return ex::forward_progress_guarantee::parallel;
  }
  [[nodiscard]] TaskScheduler query(
      ex::get_completion_scheduler_t<ex::set_value_t> /*query*/) const noexcept {
    return *this;
  }
  [[nodiscard]] TaskScheduler query(
      ex::get_completion_scheduler_t<ex::set_stopped_t> /*query*/) const noexcept {
    return *this;
  }

  friend bool operator==(const TaskScheduler&, const TaskScheduler&) noexcept = default;

 private:
  friend class ScheduleSender<TaskScheduler>;
  template <class OfScheduler, class Wait>
  friend class DelaySender;
  template <class OfScheduler>
  friend class BulkScheduler;
  friend TaskScheduler as_scheduler(const Scheduler& scheduler);
  friend TaskScheduler as_scheduler(const Scheduler& scheduler, TaskPriority priority);

  TaskScheduler(detail::SchedulerCore& core, std::optional<TaskPriority> own) noexcept
      : core_(&core), own_priority_(own) {}
  [[nodiscard]] detail::SchedulerCore& core() const noexcept { return *core_; }
  [[nodiscard]] std::optional<TaskPriority> own_priority() const noexcept { return own_priority_; }
  [[nodiscard]] static NoSignal own_signal() noexcept { return {}; }

  detail::SchedulerCore* core_;
  std::optional<TaskPriority> own_priority_;
};

/// The same with a signal of its own, which gives the priority, and whose abort stops what has not
/// started. Two are equal if loop and signal are the same.
///
/// Spec: contract SND-1, SND-4.   Thread, Lifetime: as TaskScheduler; it keeps the signal.
/// Cost: one allocation, from a recycled pool, for each operation; without memory it is stopped.
class SignalScheduler {
 public:
  using scheduler_concept = SchedulerTag;

  [[nodiscard]] ScheduleSender<SignalScheduler> schedule() const noexcept {
    return ScheduleSender<SignalScheduler>(*this);
  }

  /// The clock of its loop or cluster, on which delays end; a virtual one counts from zero.
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept {
    return detail::time_at(*core_);
  }
  /// As schedule(), a time after the operation has started; or once that time has come.
  [[nodiscard]] DelaySender<SignalScheduler, WaitFor> schedule_after(Delay delay) const noexcept {
    return {*this, WaitFor{delay}};
  }
  [[nodiscard]] DelaySender<SignalScheduler, WaitUntil> schedule_at(
      std::chrono::steady_clock::time_point time) const noexcept {
    return {*this, WaitUntil{time}};
  }
  [[nodiscard]] static constexpr auto query(ex::get_forward_progress_guarantee_t /*q*/) noexcept {
    return ex::forward_progress_guarantee::parallel;
  }
  [[nodiscard]] SignalScheduler query(
      ex::get_completion_scheduler_t<ex::set_value_t> /*query*/) const noexcept {
    return *this;
  }
  [[nodiscard]] SignalScheduler query(
      ex::get_completion_scheduler_t<ex::set_stopped_t> /*query*/) const noexcept {
    return *this;
  }

  friend bool operator==(const SignalScheduler&, const SignalScheduler&) noexcept = default;

 private:
  friend class ScheduleSender<SignalScheduler>;
  template <class OfScheduler, class Wait>
  friend class DelaySender;
  template <class OfScheduler>
  friend class BulkScheduler;
  friend SignalScheduler as_scheduler(const Scheduler& scheduler, TaskSignal signal);

  SignalScheduler(detail::SchedulerCore& core, AbortSignal signal) noexcept
      : core_(&core), signal_(std::move(signal)) {}
  [[nodiscard]] detail::SchedulerCore& core() const noexcept { return *core_; }
  [[nodiscard]] static std::optional<TaskPriority> own_priority() noexcept { return {}; }
  [[nodiscard]] AbortSignal own_signal() const noexcept { return signal_; }

  detail::SchedulerCore* core_;
  AbortSignal signal_;
};

/// The scheduler for std::execution.
///
/// Thread: any.   Errors: std::invalid_argument for a handle that was moved from, and for a value
///                that is no TaskPriority.
[[nodiscard]] inline TaskScheduler as_scheduler(const Scheduler& scheduler) {
  detail::Access::check_valid(scheduler, "as_scheduler");
  return {*detail::Access::core(scheduler), std::nullopt};
}
[[nodiscard]] inline TaskScheduler as_scheduler(const Scheduler& scheduler, TaskPriority priority) {
  detail::Access::check_valid(scheduler, "as_scheduler");
  if (priority > TaskPriority::user_blocking)
    throw std::invalid_argument("as_scheduler: the value is not a TaskPriority");
  return {*detail::Access::core(scheduler), priority};
}
[[nodiscard]] inline SignalScheduler as_scheduler(const Scheduler& scheduler, TaskSignal signal) {
  detail::Access::check_valid(scheduler, "as_scheduler");
  detail::Access::check_valid(signal, "as_scheduler: the signal");
  return {*detail::Access::core(scheduler), std::move(signal)};
}

}  // namespace HEIST_NAMESPACE::execution
