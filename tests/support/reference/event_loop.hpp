// The event loop of the reference model (FORMAT.md 3.1): plain tasks, scheduler tasks, delays. Of
// what FORMAT.md leaves open it has the contract's order of timeouts of signals: they are plain
// tasks that come before all others (DLY-6).
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
  /// A plain task and a scheduler task were ready at once: the specification does not say which is
  /// first.
  bool was_open = false;

 private:
  [[nodiscard]] bool run_one_task();
};

}  // namespace heist::reference
