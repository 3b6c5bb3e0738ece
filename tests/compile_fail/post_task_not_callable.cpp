// EXPECT: no matching function for call|no matching member function for call
#include <heist/scheduler.hpp>

auto post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  return scheduler.post_task([] { return 1; });
#else
  return scheduler.post_task(1);
#endif
}
