// EXPECT: no matching function for call|no matching member function for call
#include <heist/scheduler.hpp>

void post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  scheduler.post([] {}, {.priority = heist::TaskPriority::background});
#else
  scheduler.post(nullptr, {.priority = heist::TaskPriority::background});
#endif
}
