#include "submit.hpp"

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

/// False: aborted meanwhile, and refused.
bool register_abort_steps(ControlledTask& task, SignalCore& signal) {
  try {
    task.signal_loop = &signal.part_for(*task.scheduler);
  } catch (...) {
    refuse(task, loop_closed_reason());
    throw;
  }
  retain(signal);
  task.signal = &signal;
  task.memory.add();
  if (signal.add(task)) return true;
  task.task_ops().unregister(task);
  refuse(task, signal.reason());
  return false;
}

/// A stealable task will need it when it becomes runnable, which cannot fail (LIF-4).
void reserve_place(ControlledTask& task) {
  ClusterHub* hub = task.scheduler->loop.hub();
  if (hub == nullptr) return;
  try {
    task.cell.reset(hub->make_cell(priority_part_of(task), task, task.is_continuation));
  } catch (...) {
    refuse(task, loop_closed_reason());
    throw;
  }
}

}  // namespace

bool submit(ControlledTask& task, SignalCore* abort_source) {
  if (abort_source != nullptr && !register_abort_steps(task, *abort_source)) return false;
  if (task.is_dynamic) reserve_place(task);
  if (task.scheduler->loop.post(task)) return true;
  refuse(task, loop_closed_reason());
  return false;
}

}  // namespace heist
