// fence(): waits until an agent has done everything that it was given before.
#pragma once

#include <heist/scheduler.hpp>

namespace heist::stress {

/// Waits until the agent has run what is runnable now. It does so by a task that everything else
/// outranks.
inline void fence(const Scheduler& scheduler) {
  scheduler.post_task([] {}, {.priority = TaskPriority::background}).get();
}

/// The same, and waits until the callbacks of tasks that were aborted before are destroyed. There
/// are at most 32 of them. A pick looks for such tasks before it takes what arrives last (ABT-4).
/// So the pick that takes the first fence may leave some, and the next one clears them away.
inline void fence_twice(const Scheduler& scheduler) {
  fence(scheduler);
  fence(scheduler);
}

inline constexpr TaskPriority priorities[] = {TaskPriority::background, TaskPriority::user_visible,
                                              TaskPriority::user_blocking};

}  // namespace heist::stress
