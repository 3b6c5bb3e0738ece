// spin_until: how an agent waits before it sleeps.
#pragma once

#include <chrono>
#include <heist/version.hpp>
#include <optional>
#include <thread>

#include "../os/parker.hpp"
#include "../task/task_home.hpp"
#include "agent_sleep.hpp"

namespace HEIST_NAMESPACE::detail {

/// Waits for `done()` for as long as the agent spins, and for as long as the home is hot, but not
/// beyond `limit`. While it only waits because of that, it yields the CPU to other threads.
template <class Done>
void spin_until(AgentSleep& sleep, const TaskHome& hot,
                std::optional<LoopTime::Clock::time_point> limit, Done&& done) {
  if (!sleep.spin().spins() && !hot.is_hot()) return;
  const auto begin = LoopTime::Clock::now();
  const auto end = begin + sleep.spin().begin_wait(begin);
  while (!done()) {
    const auto now = LoopTime::Clock::now();
    if (limit && now >= *limit) return;
    if (now < end) {
      spin_pause();
    } else if (hot.is_hot()) {
      std::this_thread::yield();
    } else {
      return;
    }
  }
}

}  // namespace HEIST_NAMESPACE::detail
