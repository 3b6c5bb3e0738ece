// EXPECT: deleted
#include <heist/event_loop.hpp>

void run(heist::EventLoop& loop) {
#ifdef HEIST_EXPECT_OK
  heist::EventLoop& same = loop;
#else
  heist::EventLoop same = loop;
#endif
  same.run();
}
