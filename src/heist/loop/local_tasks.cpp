#include "local_tasks.hpp"
#include <heist/detail/levels.hpp>

#include "../task/task_home.hpp"

namespace HEIST_NAMESPACE::detail {

/// It is a function of its own, as the way of other posts is shorter without it.
[[gnu::noinline]] void LocalTasks::enqueue_dynamic(ControlledTask& task) noexcept {
  auto& port = priority_port_of(task);
  auto& queue = port.queue(task.is_continuation);
  queues.push_dynamic(task, queue, effective_priority(port.priority(), task.is_continuation));
}

/// This and refresh_priorities() are functions of their own, as collect_work() is shorter without.
[[gnu::noinline]] void LocalTasks::end_delays() noexcept {
  waiting.expire([this](SchedulerTask& task) noexcept {
    task.scheduler->home.sampling().note_runnable(task);
    enqueue_runnable(task);
  });
}

bool LocalTasks::withdraw(SchedulerTask& task) noexcept {
  if (task.place != TaskPlace::queued) return waiting.withdraw(task);
  task.scheduler->home.sampling().forget(task);
  queues.erase(task, task.is_dynamic ? &dynamic_queue_of(ControlledTask::of(task)) : nullptr);
  return true;
}

void LocalTasks::release_held(SchedulerCore& scheduler) noexcept {
  // Youngest first: what stands in front of one in its queue are older tasks of others, mostly
  // none.
  while (SchedulerTask* task = scheduler.held.back()) {
    static_cast<void>(waiting.withdraw(*task));
    if (task->is_dynamic) {
      auto& port = priority_port_of(ControlledTask::of(*task));
      const int level = effective_priority(port.priority(), task->is_continuation);
      queues.restore(*task, port.queue(task->is_continuation), level);
    } else {
      queues.restore(*task);
    }
  }
}

void LocalTasks::refresh_priority(SignalPort& port) noexcept {
  const TaskPriority priority = port.priority();
  for (const bool continuation : {false, true}) {
    queues.move(port.queue(continuation), effective_priority(priority, continuation));
  }
}

[[gnu::noinline]] void LocalTasks::refresh_priorities() noexcept {
  queues.relevel([](DynamicQueue& queue) noexcept {
    const auto& first = ControlledTask::of(*queue.tasks.front());
    return effective_priority(priority_port_of(first).priority(), first.is_continuation);
  });
}

}  // namespace HEIST_NAMESPACE::detail
