// EXPECT: no member named .abort.
// Rule: SEC-1. A signal observes; only its controller aborts.
#include <heist/abort_signal.hpp>

void abort(heist::AbortController& controller) {
#ifdef HEIST_EXPECT_OK
  controller.abort();
#else
  controller.signal().abort();
#endif
}
