// In-place tasks: tasks that stand in memory of whoever posts them, such as operation states.
#pragma once

#include <heist/delay.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// The operations of an in-place task.
///
/// Roles   owner: has the memory, and posts the task.  holder: whoever has the task then.
/// I1      From a post that succeeds until `run`, `drop` or `finish` is called, the task is its
///         holder's. These calls give it back, and may destroy it, so no thread touches it after
///         it has called one of them.
/// I2      Before a thread reads a node, it claims that node (InjectionQueue, StealableRing,
///         Inbox). So no thread needs the memory of a node that was given back, which only the
///         pool keeps readable.
/// I3      No task is in two places, and each is given back once.
/// Proof   stress/model/models/in_place.cpp, tests/execution/
struct InPlaceOps : LoopNodeOps {
  /// Does the work of a task that its home drops, or does not take, as it closes.
  void (*finish)(SchedulerTask&) noexcept;
};

/// Posts an in-place task without a signal, whose scheduler is set. Returns false when the home is
/// closed; the task is still the caller's then.
[[nodiscard]] HEIST_EXPORT bool post_in_place(SchedulerTask& task) noexcept;
/// The same once the delay, counted from now, is over.
[[nodiscard]] HEIST_EXPORT bool post_in_place(SchedulerTask& task, Delay delay) noexcept;
/// The time of the scheduler's loop or cluster, which a virtual clock counts from zero.
[[nodiscard]] HEIST_EXPORT std::chrono::steady_clock::time_point time_at(
    const SchedulerCore& scheduler) noexcept;

/// Called when its home drops a task that has to be finished all the same: finishes it, and what
/// that leads to (finish_refused), however long that chain is, without taking stack for it.
HEIST_EXPORT void finish_dropped(SchedulerTask& task) noexcept;

/// Called when its closed home has refused such a task. If this thread finishes tasks which that
/// home has dropped, this one is finished after them; otherwise the program ends with a message.
HEIST_EXPORT void finish_refused(SchedulerTask& task) noexcept;

/// A handle of the scheduler.   Precondition: its home exists.
[[nodiscard]] HEIST_EXPORT Scheduler scheduler_of(SchedulerCore& core) noexcept;

/// The running task's scheduler, or the loop's first one outside of any task.
///
/// Errors: NotAllowedError when no loop runs on this thread.
[[nodiscard]] HEIST_EXPORT Scheduler scheduler_here();

}  // namespace HEIST_NAMESPACE::detail
