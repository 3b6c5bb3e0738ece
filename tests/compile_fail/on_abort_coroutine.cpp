// EXPECT: a coroutine outlives the listener
// A listener is destroyed after its last event; the captures of a coroutine lambda would dangle.
#include <heist/scheduler.hpp>

heist::Promise<void> coroutine();

heist::Subscription listen(const heist::AbortSignal& signal, const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  return signal.on_abort(
      [scheduler] { static_cast<void>(scheduler.post_task([] { return coroutine(); })); });
#else
  static_cast<void>(scheduler);
  return signal.on_abort([] { return coroutine(); });
#endif
}
