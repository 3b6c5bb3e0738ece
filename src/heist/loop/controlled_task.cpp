// How a controlled task runs and ends; docs/lifetime.md is the table behind it.
#include "controlled_task.hpp"

#include <heist/detail/labelled_node.hpp>
#include <utility>

#include "../signal/signal_core.hpp"
#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Whether any agent of a cluster may run the task, and clear it away when it is aborted.
bool is_stealable(const SchedulerTask& task) noexcept {
  return task.scheduler->home.as_loop() == nullptr;
}

/// The signal was recorded before, by this thread. The links may have left it already.
[[gnu::noinline]] void trace_abort(const ControlledTask& task) noexcept {
  Tracing::record({.what = &task,
                   .other = label_of(task).text(),
                   .kind = TraceKind::abort,
                   .has_started = task.phase() == TaskPhase::aborted_running});
}

bool claim_task(Registration& registration) noexcept {
  auto& links = static_cast<SignalLinks&>(registration);
  ControlledTask& task = links.task;
  if (task.try_abort() == SchedulerTask::AbortClaim::none) return false;
  if (Tracing::is_on()) [[unlikely]]
    trace_abort(task);
  links.share_is_taken = true;  // it is the aborter's now
  return true;
}
bool is_task_done(const Registration& registration) noexcept {
  return static_cast<const SignalLinks&>(registration).task.is_done();
}
void forget_task(Registration& registration) noexcept {
  auto& links = static_cast<SignalLinks&>(registration);
  if (!links.share_is_taken) links.task.task_ops().release_share(links.task);
}
void restore_share_of_task(Registration& registration) noexcept {
  auto& links = static_cast<SignalLinks&>(registration);
  if (std::exchange(links.share_is_taken, false)) links.memory.add();
}

/// Whether the task's signal is aborted. Then a task with a promise is left to the aborter.
bool is_left_to_aborter(const ControlledTask& task) noexcept {
  SignalCore* signal = task.signal();
  return signal != nullptr && signal->try_leave_to_aborter();
}

/// Ends the task's registration with its signal, which it needs no more.
void leave_signal(ControlledTask& task) noexcept {
  if (task.links == nullptr) return;
  SignalCore* signal = std::exchange(task.links->signal, nullptr);
  if (signal != nullptr) leave(*signal);
}

/// Returns false when an abort, or a close that found the task in the agent's slot, came before the
/// start. A task without links has no signal, and starts before a close can find it.
inline bool publish_and_start(ControlledTask& task, RunningTask& slot) noexcept {
  const bool may_be_aborted = task.links != nullptr;
  if (!may_be_aborted) task.start_unclaimed();
  slot.publish(task);
  return !may_be_aborted || start_task(task);
}

/// Says what runs now, once the task has started.
inline void begin_call(ControlledTask& task, LoopCore& loop) noexcept {
  SignalCore* const signal = task.signal();
  if (task.is_dynamic) task.links->cell.reset();
  loop.on_agent().current = {.scheduler = task.scheduler,
                             .priority = task.priority,
                             .abort_source = signal,
                             .priority_source = task.is_dynamic ? signal : nullptr};
  loop.begin_task(task);
}

/// Destroys a callback that is over, and makes the checkpoint after it.
inline void end_call(ControlledTask& task, LoopCore& loop, bool is_over) noexcept {
  if (is_over) task.task_ops().discard_callback(task);
  loop.on_agent().change_current({});
  loop.microtask_checkpoint();
}

/// The reason with which a close rejects a task. An abort may have come first (ABT-2) that has not
/// claimed the task yet: the abort of a root calls the root's listeners before (ABT-3).
Reason reason_to_drop(const ControlledTask& task) noexcept {
  const SignalCore* signal = task.signal();
  return signal != nullptr && signal->aborted() ? signal->reason() : close_abort_reason();
}

}  // namespace

void dispose_unstarted(ControlledTask& task, LoopCore& loop) noexcept {
  AgentState& agent = loop.on_agent();
  agent.not_started = true;
  ++agent.queues.counts(loop.level_of_picked(task)).aborted;
  dispose(task);
}

bool start_task(ControlledTask& task) noexcept {
  return task.try_start() && !is_left_to_aborter(task);
}

void finish_task(ControlledTask& task, TaskOutcome outcome, Reason& error) noexcept {
  const auto& ops = task.task_ops();
  const bool adopts = outcome == TaskOutcome::promise;
  // A callback may have seen the abort before the aborter's walk has claimed the task. The abort
  // was first all the same (ABT-6), and the task is left to the walk.
  const bool aborted = is_left_to_aborter(task);
  const bool ours = !aborted && (adopts ? task.try_adopt() : task.try_finish());
  leave_signal(task);
  if (ours) return ops.settle(task, outcome, error);
  if (adopts) return ops.settle(task, TaskOutcome::late_promise, error);
  ops.discard_outcome(task, outcome);
  ops.retire(task);
}

constinit const Registration::Ops SignalLinks::abort_steps{
    &claim_task, &is_task_done, &forget_task, Registration::Kind::task, &restore_share_of_task};

bool discard_contents(ControlledTask& task) noexcept {
  if (task.links != nullptr && is_stealable(task) && !task.links->take_contents()) return false;
  task.scheduler->home.sampling().forget_aborted(task);
  task.task_ops().discard_callback(task);
  leave_signal(task);
  return true;
}

bool dispose(ControlledTask& task) noexcept {
  const bool had_contents = discard_contents(task);
  // Whoever else has taken the contents may still look into the cell for the task.
  if (had_contents && task.links != nullptr) task.links->cell.reset();
  task.task_ops().retire(task);
  return had_contents;
}

void run_controlled_task(LoopNode& node, LoopCore& loop) noexcept {
  auto& task = ControlledTask::of(static_cast<SchedulerTask&>(node));
  if (!publish_and_start(task, loop.running_task())) {
    loop.running_task().withdraw(task);
    return dispose_unstarted(task, loop);
  }
  begin_call(task, loop);
  SignalCore* const signal = task.signal();
  Reason error;
  const TaskOutcome outcome = task.task_ops().invoke(task, error);
  const bool has_returned = outcome != TaskOutcome::promise && outcome != TaskOutcome::forked;
  end_call(task, loop, has_returned);
  const bool was_there = loop.running_task().withdraw(task);
  // The callback and the checkpoint after it are done. No signal aborts the task and no close has
  // taken it, so nobody else can claim its outcome.
  const bool is_ours = has_returned && was_there && signal == nullptr;
  if (is_ours || outcome == TaskOutcome::forked) {
    return task.task_ops().settle(task, outcome, error);
  }
  finish_task(task, outcome, error);
}

void run_signalled_task(LoopNode& node, LoopCore& loop) noexcept {
  auto& task = ControlledTask::of(static_cast<SchedulerTask&>(node));
  if (!task.try_start_without_outcome() || is_left_to_aborter(task)) {
    return dispose_unstarted(task, loop);
  }
  begin_call(task, loop);
  Reason error;
  const auto& ops = task.task_ops();
  const TaskOutcome outcome = ops.invoke(task, error);
  // Nobody hears of an exception that comes after an abort.
  const bool reports = outcome == TaskOutcome::exception && !is_left_to_aborter(task);
  end_call(task, loop, true);
  leave_signal(task);
  reports ? ops.settle(task, outcome, error) : ops.retire(task);
}

void drop_controlled_task(LoopNode& node) noexcept {
  auto& task = ControlledTask::of(static_cast<SchedulerTask&>(node));
  if (task.try_drop()) task.task_ops().reject(task, reason_to_drop(task));
  dispose(task);
}

}  // namespace HEIST_NAMESPACE::detail
