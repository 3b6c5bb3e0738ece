// EXPECT: a coroutine outlives the callback
// post() destroys the callback when it returns; the captures of a coroutine lambda would dangle.
#include <heist/scheduler.hpp>

heist::Promise<void> coroutine();

void post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(scheduler.post_task([] { return coroutine(); }));
#else
  scheduler.post([] { return coroutine(); });
#endif
}
