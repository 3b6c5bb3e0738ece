#include "support/reference/event_loop.hpp"

#include <utility>

namespace heist::reference {

void EventLoop::run() {
  do {
    time.run_expired();
    while (run_one_task()) time.run_expired();
  } while (time.advance());
}

bool EventLoop::run_one_task() {
  if (!timeouts_of_signals.empty()) {
    const auto steps = std::move(timeouts_of_signals.front());
    timeouts_of_signals.pop_front();
    steps();
  } else if (!plain_tasks.empty()) {
    was_open = was_open || scheduler.has_runnable_task();
    const auto steps = std::move(plain_tasks.front());
    plain_tasks.pop_front();
    steps();
  } else if (SchedulerTask* const task = scheduler.take_next()) {
    task->steps();
  } else {
    return false;
  }
  agent.perform_microtask_checkpoint();
  return true;
}

}  // namespace heist::reference
