// EXPECT: a coroutine outlives the listener
// A listener is destroyed with its subscription; the captures of a coroutine lambda would dangle.
#include <heist/scheduler.hpp>

heist::Promise<void> coroutine(heist::TaskPriority priority);

heist::Subscription listen(const heist::TaskSignal& signal) {
  return signal.on_priority_change([](const heist::PriorityChangeEvent& event) {
#ifdef HEIST_EXPECT_OK
    static_cast<void>(coroutine(event.current));
#else
    return coroutine(event.current);
#endif
  });
}
