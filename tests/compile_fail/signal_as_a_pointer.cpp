// EXPECT: could not convert|no viable conversion|cannot convert|no matching
// WPT:LST-10, WPT:LST-11. There is no null signal.
#include <heist/scheduler.hpp>

void post(const heist::Scheduler& scheduler, const heist::AbortController& controller) {
#ifdef HEIST_EXPECT_OK
  scheduler.post([] {}, {.signal = controller.signal()});
#else
  static_cast<void>(controller);
  scheduler.post([] {}, {.signal = nullptr});
#endif
}
