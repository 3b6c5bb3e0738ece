// EXPECT: could not convert|no viable conversion|cannot convert|no matching
// WPT:LST-10, WPT:LST-11. There is no null signal.
#include <heist/abort_signal.hpp>

heist::Subscription listen(const heist::AbortSignal& signal, const heist::AbortController& bond) {
#ifdef HEIST_EXPECT_OK
  return signal.on_abort([] {}, {.signal = bond.signal()});
#else
  static_cast<void>(bond);
  return signal.on_abort([] {}, {.signal = nullptr});
#endif
}
