#include "submit.hpp"

#include "../os/fork_watch.hpp"
#include "cluster_hub.hpp"
#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

/// Rejects a task that its poster still holds.
void refuse(ControlledTask& task, const Reason& reason) noexcept {
  if (task.try_drop()) task.task_ops().reject(task, reason);
  dispose(task);
}

/// Of a loop that does not take a task.
const Reason& refusal_reason(const LoopCore& loop) noexcept {
  return ForkWatch::has_lost(&loop) ? agent_lost_reason() : loop_closed_reason();
}

/// What the task will need when it is aborted, or becomes runnable, which cannot fail (LIF-4).
void reserve(ControlledTask& task, SignalCore* abort_source) {
  if (abort_source != nullptr) task.signal_loop = &abort_source->part_for(*task.scheduler);
  ClusterHub* hub = task.scheduler->loop.hub();
  if (!task.is_dynamic || hub == nullptr) return;
  task.cell.reset(hub->make_cell(priority_part_of(task), task, task.is_continuation));
}

/// False: aborted meanwhile, and refused. From here on an abort may dispose of the callback.
bool register_abort_steps(ControlledTask& task, SignalCore& signal) noexcept {
  retain(signal);
  task.signal = &signal;
  task.memory.add();
  if (signal.add(task)) return true;
  task.task_ops().unregister(task);
  refuse(task, signal.reason());
  return false;
}

}  // namespace

bool submit(ControlledTask& task, SignalCore* abort_source) {
  try {
    reserve(task, abort_source);
  } catch (...) {
    refuse(task, loop_closed_reason());
    throw;
  }
  if (abort_source != nullptr && !register_abort_steps(task, *abort_source)) return false;
  if (task.scheduler->loop.post(task)) return true;
  refuse(task, refusal_reason(task.scheduler->loop));
  return false;
}

}  // namespace heist
