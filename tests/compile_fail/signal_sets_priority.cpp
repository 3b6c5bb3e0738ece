// EXPECT: no member named .set_priority.
// Rule: SEC-1. A signal observes; only its controller changes the priority.
#include <heist/task_signal.hpp>

void raise(heist::TaskController& controller) {
#ifdef HEIST_EXPECT_OK
  controller.set_priority(heist::TaskPriority::user_blocking);
#else
  controller.signal().set_priority(heist::TaskPriority::user_blocking);
#endif
}
