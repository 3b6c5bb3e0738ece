// EventLoop: the event loop of the reference model, with plain tasks, scheduler tasks and delays
// (tests/conformance/posttask/FORMAT.md 3.1). FORMAT.md does not say when timeouts of signals come.
// Here they come before all other tasks, as in the contract (DLY-6).
#pragma once

#include <deque>
#include <functional>

#include "support/reference/scheduler.hpp"

namespace heist::reference {

struct EventLoop {
  explicit EventLoop(Notice notice) : time(notice) {}

  void queue_plain_task(std::function<void()> steps) { plain_tasks.push_back(std::move(steps)); }
  /// Runs until nothing is left.
  void run();

  Agent agent;
  Promises promises{agent};
  Signals signals{agent};
  TimeLine time;
  Scheduler scheduler{agent, promises, signals, time};
  std::deque<std::function<void()>> plain_tasks;
  std::deque<std::function<void()>> timeouts_of_signals;
  /// Whether a plain task and a scheduler task were ever ready at once. The specification does not
  /// say which of them is first.
  bool was_open = false;

 private:
  [[nodiscard]] bool run_one_task();
};

}  // namespace heist::reference
