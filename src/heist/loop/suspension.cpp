// Suspending a scheduler: its tasks are set aside as they come up, and its time stands still
// (SUS-1).
#include <heist/node_memory.hpp>
#include <utility>

#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

const LoopNodeOps SuspensionMessage::table{LoopNodeKind::message, &take, &lose};

SuspensionMessage::SuspensionMessage(SchedulerCore& target, bool to_suspend)
    : LoopNode(table),
      scheduler(target),
      suspends(to_suspend),
      at(target.loop.time().now()),
      delays(to_suspend ? target.make_delays() : nullptr) {}

void SuspensionMessage::take(LoopNode& node, LoopCore& loop) noexcept {
  auto& self = static_cast<SuspensionMessage&>(node);
  auto& scheduler = self.scheduler;
  loop.assert_agent();
  scheduler.set_delays(std::move(self.delays));
  if (self.change >= scheduler.last_change) {
    scheduler.last_change = self.change;
    self.suspends ? loop.suspend(scheduler, self.at) : loop.resume(scheduler, self.at);
  }
  lose(node);
}

void SuspensionMessage::lose(LoopNode& node) noexcept {
  destroy_node(static_cast<SuspensionMessage&>(node));
}

void LoopCore::suspend(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept {
  auto& agent = on_agent();
  if (std::exchange(scheduler.suspended, true)) return;
  ++agent.suspended_schedulers;
  scheduler.delays->suspend(at);
  disarm_wake(scheduler);
}

/// A task that came up for a pick while its scheduler is suspended.
void LoopCore::hold(SchedulerTask& task) noexcept {
  task.place = TaskPlace::held;
  task.scheduler->held.push_back(task);
  ++on_agent().held_tasks;
}

/// Takes a task that is held back, or delayed by its scheduler's time.
void LoopCore::release_held(SchedulerTask& task) noexcept {
  --on_agent().held_tasks;
  if (task.place == TaskPlace::held) {
    task.scheduler->held.erase(task);
    task.place = TaskPlace::elsewhere;
  } else {
    task.scheduler->delays->cancel(task);
    arm_wake(*task.scheduler);
  }
}

void LoopCore::resume(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept {
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
  scheduler.delays->resume(at);
  arm_wake(scheduler);
}

/// Arrives at a scheduler that has been suspended.
void LoopCore::arm_by_scheduler(SchedulerTask& task) noexcept {
  task.scheduler->delays->arm(task);
  ++on_agent().held_tasks;
  arm_wake(*task.scheduler);
}

/// Was in the wheel when its scheduler was suspended for the first time, and its tick has come; or
/// the tick of what stands for those of its scheduler.
void LoopCore::keep_delayed(SchedulerTask& task) noexcept {
  auto& agent = on_agent();
  auto& delays = *task.scheduler->delays;
  if (&task == &delays.wake) {
    task.place = TaskPlace::elsewhere;
    --agent.wakes;
  } else {
    delays.push_early(task, time_.start_of(task.key));
    ++agent.held_tasks;
  }
  if (std::exchange(delays.may_have_ended, true)) return;
  delays.next_ended = std::exchange(agent.ended_delays, task.scheduler);
}

/// So many of each scheduler's; the rest is due at once.
void LoopCore::expire_schedulers(std::size_t most) noexcept {
  auto& agent = on_agent();
  while (SchedulerCore* scheduler = agent.ended_delays) {
    auto& delays = *scheduler->delays;
    agent.ended_delays = delays.next_ended;
    delays.may_have_ended = false;
    const auto end = [&](SchedulerTask& task) noexcept {
      assert_agent();
      --agent.held_tasks;
      become_runnable(task);
    };
    delays.expire(time_.now(), end, most);
    arm_wake(*scheduler);
  }
}

/// For the first of the scheduler's own delays.
void LoopCore::arm_wake(SchedulerCore& scheduler) noexcept {
  auto& agent = on_agent();
  auto& delays = *scheduler.delays;
  const auto first = delays.first_end();
  if (scheduler.suspended || first == first.max() || !agent.accepts_posts) {
    return disarm_wake(scheduler);
  }
  const Tick tick = delays.has_more_ended()
                        ? agent.delays.now()
                        : time_.tick_from(static_cast<Tick>(delays.on_loop(first).count()));
  if (delays.wake.place == TaskPlace::delayed && delays.wake.key == tick) return;
  disarm_wake(scheduler);
  delays.wake.place = TaskPlace::delayed;
  ++agent.wakes;
  agent.delays.arm(delays.wake, tick);
}

void LoopCore::disarm_wake(SchedulerCore& scheduler) noexcept {
  auto& agent = on_agent();
  if (!scheduler.delays || scheduler.delays->wake.place != TaskPlace::delayed) return;
  agent.delays.cancel(scheduler.delays->wake);
  scheduler.delays->wake.place = TaskPlace::elsewhere;
  --agent.wakes;
}

/// For a close.
void LoopCore::take_delayed(SchedulerCore& scheduler, TaskFifo& into) noexcept {
  disarm_wake(scheduler);
  if (!scheduler.delays) return;
  scheduler.delays->drain([&](SchedulerTask& task) noexcept {
    assert_agent();
    --on_agent().held_tasks;
    into.push_back(task);
  });
}

/// The close of the loop: what is held back never starts.
void LoopCore::drop_held(SchedulerCore& scheduler) noexcept {
  while (SchedulerTask* task = scheduler.held.front()) {
    release_held(*task);
    drop_task(*task);
  }
  TaskFifo delayed;
  take_delayed(scheduler, delayed);
  while (SchedulerTask* task = delayed.front()) {
    delayed.pop_front();
    drop_task(*task);
  }
}

}  // namespace heist
