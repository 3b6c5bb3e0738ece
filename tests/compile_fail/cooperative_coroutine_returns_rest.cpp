// EXPECT: a coroutine goes on by co_await slice\(\)
#include <heist/cooperative_scheduler.hpp>

#ifdef HEIST_EXPECT_OK
using Rest = heist::Promise<void>;
#else
using Rest = heist::Promise<heist::CooperativeCallback>;
#endif
Rest work();

void schedule(const heist::CooperativeScheduler& scheduler) {
  scheduler.schedule_callback(heist::CooperativePriority::normal, [] { return work(); });
}
