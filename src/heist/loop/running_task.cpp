#include "running_task.hpp"

#include <heist/detail/promise_state.hpp>

namespace HEIST_NAMESPACE::detail {

/// A close has taken the task: whoever finishes last drops the share that is added here.
void RunningTask::end_stolen(ControlledTask& task) noexcept {
  task.task_ops().add_share(task);
  if (stolen_ends_.fetch_add(1, sync::edge("running:withdraw", sync::acq_rel)) % 2 == 1) {
    task.task_ops().release_share(task);
  }
}

void RunningTask::reject() noexcept {
  if (rejecting_.exchange(true, sync::edge("running:reject", sync::acquire))) return;
  ControlledTask* task = task_.exchange(nullptr, sync::edge("running:steal", sync::acq_rel));
  if (task != nullptr) reject_stolen(*task);
  rejecting_.store(false, sync::edge("running:rejected", sync::release));
}

void RunningTask::reject_stolen(ControlledTask& task) noexcept {
  // The task may be about to start.
  if (task.try_drop() || task.try_close_running()) {
    task.task_ops().reject(task, close_abort_reason());
  }
  if (stolen_ends_.fetch_add(1, sync::edge("running:steal", sync::acq_rel)) % 2 == 1) {
    task.task_ops().release_share(task);
  }
}

}  // namespace HEIST_NAMESPACE::detail
