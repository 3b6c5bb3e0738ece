// fence(): waits until an agent has done everything that it was given before.
#pragma once

#include <heist/scheduler.hpp>

namespace heist::stress {

/// Waits until the agent has run what is runnable now. It does so by a task that everything else
/// outranks.
inline void fence(const Scheduler& scheduler) {
  scheduler.post_task([] {}, {.priority = TaskPriority::background}).get();
}

inline constexpr TaskPriority priorities[] = {TaskPriority::background, TaskPriority::user_visible,
                                              TaskPriority::user_blocking};

}  // namespace heist::stress
