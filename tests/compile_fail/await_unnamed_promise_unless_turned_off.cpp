// EXPECT: HEIST_NO_AWAIT_WARNING turns this warning off
// ONLY: GNU
#ifdef HEIST_EXPECT_OK
#define HEIST_NO_AWAIT_WARNING
#endif
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>

heist::Promise<int> load();

template <class Awaiting>
Awaiting load_twice() {
  co_return 2 * co_await load();
}
template heist::Promise<int> load_twice();
