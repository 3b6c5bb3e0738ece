// EXPECT: no member named .set_priority.
#include <heist/task_signal.hpp>

void raise() {
#ifdef HEIST_EXPECT_OK
  heist::TaskController controller;
#else
  heist::AbortController controller;
#endif
  controller.set_priority(heist::TaskPriority::user_blocking);
}
