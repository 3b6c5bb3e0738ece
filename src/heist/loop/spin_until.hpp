// spin_until: how an agent waits before it sleeps.
#pragma once

#include <chrono>
#include <heist/version.hpp>
#include <optional>
#include <thread>

#include "../os/parker.hpp"
#include "../task/task_home.hpp"

namespace HEIST_NAMESPACE::detail {

/// Waits for `done()` for the budget, and for as long as it is hot there, but not beyond `limit`;
/// while it is only hot no other thread is kept off the CPU.
template <class Done>
void spin_until(std::chrono::nanoseconds budget, const TaskHome& hot,
                std::optional<LoopTime::Clock::time_point> limit, Done&& done) {
  if (budget <= budget.zero() && !hot.is_hot()) return;
  const auto end = LoopTime::Clock::now() + budget;
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
