// Suspending a scheduler: its tasks are set aside as they come up, its delays stop counting (SUS-1).
#include <algorithm>
#include <heist/node_memory.hpp>
#include <utility>

#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

const LoopNodeOps SuspensionMessage::table{LoopNodeKind::message, &take, &lose};

bool SuspensionMessage::is_suspension() const noexcept {
  return scheduler.loop.hub() != nullptr ? scheduler.stealable.is_suspended() : suspends;
}

void SuspensionMessage::take(LoopNode& node, LoopCore& loop) noexcept {
  auto& self = static_cast<SuspensionMessage&>(node);
  loop.assert_agent();
  self.is_suspension() ? loop.suspend(self.scheduler) : loop.resume(self.scheduler);
  lose(node);
}

void SuspensionMessage::lose(LoopNode& node) noexcept {
  destroy_node(static_cast<SuspensionMessage&>(node));
}

void LoopCore::suspend(SchedulerCore& scheduler) noexcept {
  auto& agent = on_agent();
  if (std::exchange(scheduler.suspended, true)) return;
  ++agent.suspended_schedulers;
  const auto is_its = [&scheduler](const LoopNode& node) noexcept {
    return static_cast<const SchedulerTask&>(node).scheduler == &scheduler;
  };
  agent.wheel.take_if(is_its, [this](LoopNode& node) noexcept {
    assert_agent();
    hold_delayed(static_cast<SchedulerTask&>(node));
  });
}

/// A task that came up for a pick, or is delayed, while its scheduler is suspended.
void LoopCore::hold(SchedulerTask& task) noexcept {
  task.place = TaskPlace::held;
  task.scheduler->held.push_back(task);
  ++on_agent().held_tasks;
}

void LoopCore::hold_delayed(SchedulerTask& task) noexcept {
  task.place = TaskPlace::held_delayed;
  if (task.key != no_tick) {
    const auto left = time_.start_of(task.key) - time_.now();
    task.key = static_cast<std::uint64_t>(std::max(left, left.zero()).count());
  }
  task.scheduler->held_delayed.push_back(task);
  ++on_agent().held_tasks;
}

/// Takes a task that is held back.
void LoopCore::release_held(SchedulerTask& task) noexcept {
  const bool delayed = task.place == TaskPlace::held_delayed;
  (delayed ? task.scheduler->held_delayed : task.scheduler->held).erase(task);
  task.place = TaskPlace::elsewhere;
  --on_agent().held_tasks;
}

void LoopCore::resume(SchedulerCore& scheduler) noexcept {
  auto& agent = on_agent();
  if (!std::exchange(scheduler.suspended, false)) return;
  --agent.suspended_schedulers;
  // Youngest first: what stands in front of one in its queue are older tasks of others, mostly none.
  while (SchedulerTask* task = scheduler.held.back()) {
    release_held(*task);
    if (task->is_dynamic) {
      auto& part = priority_part_of(ControlledTask::of(*task));
      const int level = effective_priority(part.priority(), task->is_continuation);
      agent.queues.restore(*task, part.queues[task->is_continuation ? 1 : 0], level);
    } else {
      agent.queues.restore(*task);
    }
  }
  while (SchedulerTask* task = scheduler.held_delayed.front()) {
    release_held(*task);
    task->place = TaskPlace::delayed;
    const auto left = Delay(std::chrono::nanoseconds(task->key));
    agent.wheel.arm(*task, task->key == no_tick ? no_tick : time_.expiry(left));
  }
}

/// The close of the loop: what is held back never starts.
void LoopCore::drop_held(SchedulerCore& scheduler) noexcept {
  for (TaskFifo* list : {&scheduler.held, &scheduler.held_delayed}) {
    while (SchedulerTask* task = list->front()) {
      release_held(*task);
      drop_task(*task);
    }
  }
}

}  // namespace heist
