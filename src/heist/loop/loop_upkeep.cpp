// What an agent does between tasks for those that wait: priorities that changed, tasks that were aborted, signals that go.
#include <utility>

#include "cluster_hub.hpp"
#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

/// How many aborted tasks one pick clears away while others wait (ABT-4): those whose callbacks it destroys, those it looks
/// at, and the messages that name them.
constexpr unsigned reap_portion = 32;
constexpr unsigned looked_at_portion = 256;
constexpr unsigned message_portion = 64;

}  // namespace

/// Users' destructors may run here; what was posted before them has its order already.
void LoopCore::release_signals() noexcept {
  SignalLoop* part = std::exchange(on_agent().released, nullptr);
  note_leftovers();
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
  auto& agent = on_agent();
  part.next_released = std::exchange(agent.released, &part);
  agent.has_leftovers = true;
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

/// Looks at so many messages of aborts. The next one to come tells this agent again, once there are no more.
void LoopCore::take_aborts(unsigned most) noexcept {
  auto& agent = on_agent();
  while (agent.may_have_aborts && most-- > 0) {
    if (agent.aborts == nullptr) agent.aborts = aborts_.take_newest_first();
    if (agent.aborts != nullptr) {
      LoopNode& message = *std::exchange(agent.aborts, agent.aborts->next);
      message.ops->run(message, *this);
    } else if (aborts_.try_sleep()) {
      agent.may_have_aborts = false;
    }
  }
}

/// No more messages of aborts are taken.
void LoopCore::close_aborts() noexcept {
  auto& agent = on_agent();
  LoopNode* rest = aborts_.close();
  for (LoopNode* list : {std::exchange(agent.aborts, nullptr), rest}) {
    while (list != nullptr) {
      LoopNode& message = *std::exchange(list, list->next);
      message.ops->run(message, *this);
    }
  }
  agent.may_have_aborts = false;
}

void LoopCore::reap_for_a_while() noexcept {
  reap_some();
  if (!has_garbage()) return;
  on_agent().reaping.go_on(time_, [this] {
    assert_agent();
    reap_some();
    return has_garbage();
  });
}

void LoopCore::reap_some() noexcept {
  end_search();
  take_aborts(message_portion);
  unsigned callbacks = 0;
  for (unsigned looks = 0; callbacks < reap_portion && looks < looked_at_portion; ++looks) {
    const Reaped reaped = reap_one();
    if (reaped == Reaped::none) return;
    if (reaped == Reaped::callback) ++callbacks;
  }
}

/// Disposes of one aborted task.
LoopCore::Reaped LoopCore::reap_one() noexcept {
  auto& agent = on_agent();
  if (SchedulerTask* task = agent.discarded.front()) {
    agent.discarded.pop_front();
    if (!task->is_stealable()) task->place = TaskPlace::elsewhere;
    return dispose(ControlledTask::of(*task)) ? Reaped::callback : Reaped::memory;
  }
  if (agent.reap == nullptr) return Reaped::none;
  ControlledTask& task = *agent.reap;
  agent.reap = static_cast<ControlledTask*>(task.chain);
  bool had_callback = false;
  if (task.is_stealable()) {
    had_callback = task.is_withdrawn ? dispose(task) : discard_contents(task);
    const bool is_ours = had_callback && !task.is_withdrawn;
    if (is_ours && task.scheduler->loop.hub()->take_back(task)) task.task_ops().retire(task);
  } else if (withdraw(task)) {
    had_callback = dispose(task);  // otherwise not arrived yet, or disposed of already
  }
  task.task_ops().unregister(task);  // the aborter's share
  return had_callback ? Reaped::callback : Reaped::memory;
}

bool LoopCore::withdraw(SchedulerTask& task) noexcept {
  auto& agent = on_agent();
  if (task.place == TaskPlace::queued) {
    agent.queues.erase(task,
                       task.is_dynamic ? &dynamic_queue_of(ControlledTask::of(task)) : nullptr);
  } else if (task.place == TaskPlace::delayed) {
    agent.delays.cancel(task);
    task.place = TaskPlace::elsewhere;
  } else if (task.place == TaskPlace::held || task.place == TaskPlace::delayed_longer ||
             task.place == TaskPlace::delayed_by_scheduler) {
    release_held(task);
  } else if (task.place == TaskPlace::ended_limit) {
    agent.limits.erase(task);
  } else {
    return false;
  }
  return true;
}

}  // namespace heist
