// EXPECT: could not convert|no viable conversion|cannot convert|no matching
// WPT:DLY-03
#include <chrono>
#include <heist/scheduler.hpp>

void post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  scheduler.post([] {}, {.delay = std::chrono::milliseconds(5)});
#else
  scheduler.post([] {}, {.delay = 5});
#endif
}
