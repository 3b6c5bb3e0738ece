// fence(): waits until an agent has done everything that it was given before.
#pragma once

#include <heist/scheduler.hpp>

namespace heist::stress {

/// Waits until the agent has run what is runnable now. It does so by a task that everything else
/// outranks.
inline void fence(const Scheduler& scheduler) {
  scheduler.post_task([] {}, {.priority = TaskPriority::background}).get();
}

/// The same, and waits until the callbacks of tasks that were aborted before are destroyed, if a
/// pick can do so (ABT-4 has portions). A pick clears such tasks away before it takes what arrives
/// last. So the pick that takes the first fence may leave some to the next one.
inline void fence_twice(const Scheduler& scheduler) {
  fence(scheduler);
  fence(scheduler);
}

inline constexpr TaskPriority priorities[] = {TaskPriority::background, TaskPriority::user_visible,
                                              TaskPriority::user_blocking};

}  // namespace heist::stress
