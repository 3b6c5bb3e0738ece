// EXPECT: could not convert|no viable conversion|cannot convert|no matching
#include <heist/scheduler.hpp>

void post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  scheduler.post([] {}, {.priority = heist::TaskPriority::background});
#else
  scheduler.post([] {}, {.priority = 0});
#endif
}
