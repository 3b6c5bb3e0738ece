// What an agent does between tasks for those that wait: priorities that changed, tasks that were aborted, signals that go.
#include <utility>

#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

/// How many aborted tasks one pick clears away while others wait (ABT-4).
constexpr int reap_portion = 32;

}  // namespace

/// Users' destructors may run here; what was posted before them has its order already.
void LoopCore::release_signals() noexcept {
  SignalLoop* part = std::exchange(on_agent().released, nullptr);
  if (part != nullptr) end_search();
  while (part != nullptr) {
    SignalLoop* next = part->next_released;
    SignalCore& signal = *part->signal;
    for (int count = std::exchange(part->releases, 0); count > 0; --count) release(signal);
    part = next;
  }
}

void LoopCore::release_later(SignalLoop& part) noexcept {
  if (part.releases++ != 0) return;
  part.next_released = std::exchange(on_agent().released, &part);
}

void LoopCore::refresh_priority(SignalLoop& part) noexcept {
  auto& queues = on_agent().queues;
  const TaskPriority priority = part.priority();
  for (const bool continuation : {false, true}) {
    queues.move(part.queues[continuation ? 1 : 0], effective_priority(priority, continuation));
  }
}

/// Rare: a priority message was on its way while its sender had to return (D1 of SignalLoop).
void LoopCore::recheck_priorities() noexcept {
  if (!recheck_.exchange(false, sync::edge("recheck:take", sync::seq_cst))) return;
  on_agent().queues.relevel([](DynamicQueue& queue) noexcept {
    const auto& first = ControlledTask::of(*queue.tasks.front());
    return effective_priority(priority_part_of(first).priority(), first.is_continuation);
  });
}

void LoopCore::reap_later(SignalLoop& part) noexcept {
  auto& agent = on_agent();
  if (agent.reap == nullptr) {
    agent.reap = part.reap_head;
  } else {
    agent.reap_tail->chain = part.reap_head;
  }
  agent.reap_tail = part.reap_tail;
  part.reap_head = nullptr;
}

void LoopCore::reap_some() noexcept {
  end_search();
  for (int done = 0; done < reap_portion && reap_one(); ++done) {
  }
}

/// Disposes of one aborted task; false when none is left.
bool LoopCore::reap_one() noexcept {
  auto& agent = on_agent();
  if (SchedulerTask* task = agent.discarded.front()) {
    agent.discarded.pop_front();
    if (!task->is_stealable()) task->place = TaskPlace::elsewhere;
    dispose(ControlledTask::of(*task));
    return true;
  }
  if (agent.reap == nullptr) return false;
  ControlledTask& task = *agent.reap;
  agent.reap = static_cast<ControlledTask*>(task.chain);
  if (task.is_stealable()) {
    task.is_withdrawn ? dispose(task) : discard_contents(task);
  } else if (withdraw(task)) {
    dispose(task);  // otherwise not arrived yet, or disposed of already
  }
  task.task_ops().unregister(task);  // the aborter's share
  return true;
}

bool LoopCore::withdraw(SchedulerTask& task) noexcept {
  auto& agent = on_agent();
  if (task.place == TaskPlace::queued) {
    agent.queues.erase(task,
                       task.is_dynamic ? &dynamic_queue_of(ControlledTask::of(task)) : nullptr);
  } else if (task.place == TaskPlace::delayed) {
    agent.wheel.cancel(task);
    task.place = TaskPlace::elsewhere;
  } else if (task.place == TaskPlace::held || task.place == TaskPlace::held_delayed) {
    release_held(task);
  } else {
    return false;
  }
  return true;
}

}  // namespace heist
