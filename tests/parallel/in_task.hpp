// What several tests of parallel algorithms need.
#pragma once

#include <heist/scheduler.hpp>
#include <thread>
#include <utility>

namespace heist {

/// Runs it as a task and waits for its end.
template <class Callback>
auto in_task(const Scheduler& scheduler, Callback&& callback, const PostTaskOptions& options = {}) {
  return scheduler.post_task(std::forward<Callback>(callback), options).get();
}

/// Until another thread has done something.
template <class Condition>
void wait_for(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

}  // namespace heist
