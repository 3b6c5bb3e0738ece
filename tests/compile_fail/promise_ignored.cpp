// EXPECT: -W(error=)?unused
// An ignored promise hides errors: fire and forget is called post.
#include <heist/scheduler.hpp>

void post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  scheduler.post([] {});
#else
  scheduler.post_task([] {});
#endif
}
