// EXPECT: no matching function for call
#include <heist/event_loop.hpp>

void queue() {
#ifdef HEIST_EXPECT_OK
  heist::queue_microtask([] {});
#else
  heist::queue_microtask(nullptr);
#endif
}
