// EXPECT: no matching function for call|no matching member function for call
#include <heist/abort_signal.hpp>

heist::Subscription listen(const heist::AbortSignal& signal) {
#ifdef HEIST_EXPECT_OK
  return signal.on_abort([] {});
#else
  return signal.on_abort(nullptr);
#endif
}
