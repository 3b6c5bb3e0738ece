// EXPECT: no matching function for call
#include <heist/microtask.hpp>

void queue() {
#ifdef HEIST_EXPECT_OK
  heist::queue_microtask([] {});
#else
  heist::queue_microtask(nullptr);
#endif
}
