// EXPECT: no member named .on_priority_change.
// Only a TaskSignal has a priority.
#include <heist/task_signal.hpp>

heist::Subscription listen(const heist::TaskController& controller) {
#ifdef HEIST_EXPECT_OK
  return controller.signal().on_priority_change([] {});
#else
  return heist::AbortSignal(controller.signal()).on_priority_change([] {});
#endif
}
