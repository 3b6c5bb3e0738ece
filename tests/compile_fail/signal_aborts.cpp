// EXPECT: this makes another signal; an AbortController aborts one
// Rule: SEC-1. A signal observes; only its controller aborts. (AbortSignal::abort is DOM's static:
// C++ lets it be called on an object.)
#include <heist/abort_signal.hpp>

void abort(heist::AbortController& controller) {
#ifdef HEIST_EXPECT_OK
  controller.abort();
#else
  controller.signal().abort();
#endif
}
