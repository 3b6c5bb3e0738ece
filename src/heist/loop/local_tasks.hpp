// LocalTasks: the tasks of one loop that its agent has taken from the inbox, and how each takes its
// place in line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/scheduler_task.hpp>

#include "../signal/signal_core.hpp"
#include "../task/aborted_tasks.hpp"
#include "../task/task_queues.hpp"
#include "../task/waiting_tasks.hpp"
#include "pick_policy.hpp"

namespace HEIST_NAMESPACE::detail {

/// Thread: the agent, but for size().
struct LocalTasks {
  /// `time` is the loop's clock. `aborted` takes the tasks that were aborted before they started.
  LocalTasks(const EventLoopOptions& options, const LoopTime& time, AbortedTasks& aborted) noexcept
      : waiting(time), policy(options, time), aborted_(aborted) {}

  TaskQueues queues;
  WaitingTasks waiting;
  std::uint64_t next_enqueue_order = 1;
  PickPolicy policy;

  /// Enqueues a runnable task, which gets its enqueue order now (ORD-4).
  void enqueue_runnable(SchedulerTask& task) noexcept {
    task.key = next_enqueue_order++;
    task.is_dynamic ? enqueue_dynamic(ControlledTask::of(task)) : queues.push(task);
  }
  /// Enqueues a task. A delayed one is armed instead, and gets its enqueue order when its delay is
  /// over. One that was aborted on its way here is set aside.
  void enqueue(SchedulerTask& task) noexcept {
    if (task.is_aborted()) [[unlikely]]
      return aborted_.discard(task);
    task.is_delayed ? waiting.arm(task) : enqueue_runnable(task);
  }
  /// Enqueues the tasks whose delays are over.
  void end_delays() noexcept;
  /// Takes the first task. Returns null when that may not run now, and was set aside.
  /// Precondition: there is one.
  [[nodiscard]] SchedulerTask* try_pick() noexcept {
    SchedulerTask* task =
        policy.is_wanted() ? policy.pop(queues, next_enqueue_order) : queues.pop();
    if (task->is_aborted()) {
      ++queues.counts(task->level).aborted;
      aborted_.discard(*task);
    } else if (waiting.has_suspensions() && task->scheduler->suspended) [[unlikely]] {
      ++queues.counts(task->level).held;
      waiting.hold(*task);
    } else {
      return task;
    }
    policy.run().forget_pick();
    return nullptr;
  }
  /// Takes an unstarted task back from wherever it is. Returns false when it is not here.
  [[nodiscard]] bool withdraw(SchedulerTask& task) noexcept;
  /// Called when a scheduler was resumed: puts its tasks that were held back into the queues, where
  /// their age belongs.
  void release_held(SchedulerCore& scheduler) noexcept;

  /// Called when the signal's priority has changed: moves its queues to their new level.
  void refresh_priority(SignalPort& port) noexcept;
  /// Does the same for all signals.
  void refresh_priorities() noexcept;

  /// The number of tasks and time limits.   Thread: any. Threads other than the agent see a number
  /// of a moment ago.
  [[nodiscard]] std::size_t size() const noexcept { return queues.size() + waiting.size(); }

 private:
  AbortedTasks& aborted_;

  /// Enqueues a task that moves with its signal's priority while it waits.
  void enqueue_dynamic(ControlledTask& task) noexcept;
};

}  // namespace HEIST_NAMESPACE::detail
