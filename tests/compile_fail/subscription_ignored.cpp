// EXPECT: -W(error=)?unused
// An ignored subscription would remove its listener at once.
#include <heist/abort_signal.hpp>

void listen(const heist::AbortSignal& signal) {
#ifdef HEIST_EXPECT_OK
  const auto subscription = signal.on_abort([] {});
#else
  signal.on_abort([] {});
#endif
}
