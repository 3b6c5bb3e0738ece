// RunningTask: the task that an agent runs, where a close finds it.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   agent: publishes and withdraws.  closer: any thread, at its deadline; steals.
// States  task_: null, or the running task.
// I1      Exactly one of the two takes a published task out of the slot. If that is a closer, the
//         agent adds a share of the task's memory, and the last of both to be done with it drops
//         that share.
// Edge running: publish -> steal. Carries the task.
// Edge running: withdraw -> steal. Carries nothing of the task: the agent that withdrew it ends it.
// Edge running: rejected -> reject. One closer is done with its stolen task before the next steals.
// Progress  wait-free. A closer does nothing while another one steals.
// Proof   stress/model/models/running.cpp
class RunningTask {
 public:
  // What only the agent calls.

  void publish(ControlledTask& task) noexcept {
    task_.store(&task, sync::edge("running:publish", sync::release));
  }
  /// Withdraws the task. Returns false when a close has taken it meanwhile: the task's memory then
  /// lasts until the close is done with it.
  bool withdraw(ControlledTask& task) noexcept {
    if (task_.exchange(nullptr, sync::edge("running:withdraw", sync::acq_rel)) != nullptr) {
      return true;
    }
    end_stolen(task);
    return false;
  }
  [[nodiscard]] ControlledTask* get() const noexcept {
    return task_.load(sync::relaxed);  // relaxed: the agent's own slot.
  }

  // What a closer calls.

  /// Rejects the promise of the running task, if it has one.
  void reject() noexcept;

 private:
  void end_stolen(ControlledTask& task) noexcept;
  void reject_stolen(ControlledTask& task) noexcept;

  sync::atomic<ControlledTask*> task_{nullptr};
  sync::atomic<bool> rejecting_{false};
  sync::atomic<std::uint32_t> stolen_ends_{0};
};

}  // namespace HEIST_NAMESPACE::detail
