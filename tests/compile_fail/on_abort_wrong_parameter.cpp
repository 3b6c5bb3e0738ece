// EXPECT: no matching function for call|no matching member function for call
#include <heist/task_signal.hpp>

heist::Subscription listen(const heist::TaskSignal& signal) {
#ifdef HEIST_EXPECT_OK
  return signal.on_abort([](const heist::AbortSignal&) {});
#else
  return signal.on_abort([](const heist::PriorityChangeEvent&) {});
#endif
}
