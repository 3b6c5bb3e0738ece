// spin_until: how an agent waits before it sleeps.
#pragma once

#include <chrono>
#include <heist/version.hpp>
#include <optional>
#include <thread>

#include "../os/parker.hpp"
#include "../task/task_home.hpp"

namespace HEIST_NAMESPACE::detail {

/// Waits for `done()` until the budget is used up, and for as long as the home is hot, but not
/// beyond `limit`. While it only waits because of that, it yields the CPU to other threads.
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
