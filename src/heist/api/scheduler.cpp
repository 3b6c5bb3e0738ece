#include <heist/node_memory.hpp>
#include <heist/scheduler.hpp>
#include <stdexcept>

#include "../loop/loop_core.hpp"
#include "../loop/signal_core.hpp"

namespace heist {

namespace {

/// Steps of [sched#compute-the-scheduling-state-from-options] that need no signal part, and the
/// delay.
void apply_options(SchedulerTask& task, const PostTaskOptions& options, LoopCore& loop) noexcept {
  task.priority = options.priority.value_or(TaskPriority::user_visible);
  loop.set_delay(task, options.delay);
}

/// Registers the task's abort steps and finds its dynamic queue. False: aborted meanwhile.
bool apply_signal(ControlledTask& task, const PostTaskOptions& options, LoopCore& loop) {
  SignalCore& signal = options.signal->core();
  task.signal_loop = &signal.part_for(loop);
  retain(signal);
  task.signal = &signal;
  task.is_dynamic = !options.priority && signal.has_dynamic_priority();
  task.memory.add();
  if (signal.add(task)) return true;
  task.task_ops().unregister(task);
  return false;
}

/// Rejects a task that its poster still holds.
void refuse(ControlledTask& task, const Reason& reason) noexcept {
  if (task.try_drop()) task.task_ops().reject(task, reason);
  dispose(task);
}

}  // namespace

Reason Scheduler::refused(const PostTaskOptions& options) {
  if (options.priority && *options.priority > TaskPriority::user_blocking) {
    throw std::invalid_argument("PostTaskOptions::priority is not a TaskPriority");
  }
  return options.signal ? options.signal->reason() : Reason();
}

bool Scheduler::submit_plain(SchedulerTask& task) const noexcept {
  task.scheduler = core_;
  return loop_->post_or_drop(task);
}

bool Scheduler::submit_plain(SchedulerTask& task, const PostTaskOptions& options) const noexcept {
  apply_options(task, options, *loop_);
  return submit_plain(task);
}

bool Scheduler::submit_controlled(ControlledTask& task, const PostTaskOptions& options) const {
  task.scheduler = core_;
  apply_options(task, options, *loop_);
  try {
    if (options.signal && !apply_signal(task, options, *loop_)) {
      refuse(task, options.signal->reason());
      return false;
    }
  } catch (...) {
    refuse(task, loop_closed_reason());
    throw;
  }
  if (loop_->post(task)) return true;
  refuse(task, loop_closed_reason());
  return false;
}

std::optional<Scheduler> Scheduler::current() noexcept {
  LoopCore* loop = current_loop();
  if (loop == nullptr || loop->on_agent().current.scheduler == nullptr) return std::nullopt;
  return Scheduler(Ref<LoopCore>::share(loop), loop->on_agent().current.scheduler);
}

void enqueue_microtask(Reaction& reaction) {
  reaction.bind_to_current_loop();
  deliver(reaction);
}

}  // namespace heist
