// EXPECT: nobody would run what the callback returns
// post() has no use for a result, and a Forkable runs only when somebody asks for one.
#include <heist/fork.hpp>
#include <heist/scheduler.hpp>

heist::Forkable<> call();

void post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(scheduler.post_task([] { return call(); }));
#else
  scheduler.post([] { return call(); });
#endif
}
