#include "waiting_tasks.hpp"

#include <utility>

#include "time_limit_ops.hpp"

namespace HEIST_NAMESPACE::detail {

/// Arms a time limit, or a task of a scheduler that has been suspended at least once.
void WaitingTasks::arm_otherwise(SchedulerTask& task) noexcept {
  if (task.is_time_limit && !take_up(task)) return;  // the limit is gone
  if (!task.scheduler->delays) return arm_in_wheel(task);
  task.scheduler->delays->arm(task);
  ++held_;
  arm_wake(*task.scheduler);
}

void WaitingTasks::expire_limits() noexcept {
  if (!delays_.has_limits()) return;
  const auto end = [this](LoopNode& node) noexcept {
    limits_.push(static_cast<SchedulerTask&>(node));
  };
  delays_.expire_limits(ticks_.now(), end, expiry_portion);
}

bool WaitingTasks::withdraw(SchedulerTask& task) noexcept {
  switch (task.place) {
    case TaskPlace::delayed:
      delays_.cancel(task);
      task.place = TaskPlace::elsewhere;
      return true;
    case TaskPlace::held:
    case TaskPlace::delayed_longer:
    case TaskPlace::delayed_by_scheduler:
      release_held(task);
      return true;
    case TaskPlace::ended_limit:
      limits_.erase(task);
      return true;
    case TaskPlace::elsewhere:
    case TaskPlace::queued:
    case TaskPlace::discarded:
      break;
  }
  return false;
}

void WaitingTasks::hold(SchedulerTask& task) noexcept {
  task.place = TaskPlace::held;
  task.scheduler->held.push_back(task);
  ++held_;
}

/// Takes out a task that is held back, or delayed by its scheduler's time.
void WaitingTasks::release_held(SchedulerTask& task) noexcept {
  --held_;
  if (task.place == TaskPlace::held) {
    task.scheduler->held.erase(task);
    task.place = TaskPlace::elsewhere;
  } else {
    task.scheduler->delays->cancel(task);
    arm_wake(*task.scheduler);
  }
}

bool WaitingTasks::suspend(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept {
  if (std::exchange(scheduler.suspended, true)) return false;
  ++suspended_schedulers_;
  scheduler.delays->suspend(at);
  disarm_wake(scheduler);
  return true;
}

bool WaitingTasks::resume(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept {
  if (!std::exchange(scheduler.suspended, false)) return false;
  --suspended_schedulers_;
  scheduler.delays->resume(at);
  arm_wake(scheduler);
  return true;
}

/// Called when the tick has come of a task whose scheduler has delays of its own. Either the task
/// was in the loop's wheel when the scheduler was suspended for the first time, or it is the wake
/// that stands there for those delays.
void WaitingTasks::keep_delayed(SchedulerTask& task) noexcept {
  auto& delays = *task.scheduler->delays;
  if (&task == &delays.wake) {
    task.place = TaskPlace::elsewhere;
    --wakes_;
  } else {
    delays.push_early(task, time_.start_of(task.key));
    ++held_;
  }
  if (std::exchange(delays.may_have_ended, true)) return;
  delays.next_ended = std::exchange(ended_delays_, task.scheduler);
}

/// Arms the wake for the first of the scheduler's own delays.
void WaitingTasks::arm_wake(SchedulerCore& scheduler) noexcept {
  auto& delays = *scheduler.delays;
  const auto first = delays.first_end();
  if (scheduler.suspended || first == first.max() || !arms_wakes_) return disarm_wake(scheduler);
  const Tick tick = delays.has_more_ended()
                        ? delays_.now()
                        : time_.tick_from(static_cast<Tick>(delays.on_loop(first).count()));
  if (delays.wake.place == TaskPlace::delayed && delays.wake.key == tick) return;
  disarm_wake(scheduler);
  delays.wake.place = TaskPlace::delayed;
  ++wakes_;
  delays_.arm(delays.wake, tick);
}

void WaitingTasks::disarm_wake(SchedulerCore& scheduler) noexcept {
  if (!scheduler.delays || scheduler.delays->wake.place != TaskPlace::delayed) return;
  delays_.cancel(scheduler.delays->wake);
  scheduler.delays->wake.place = TaskPlace::elsewhere;
  --wakes_;
}

}  // namespace HEIST_NAMESPACE::detail
