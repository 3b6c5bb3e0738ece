// EXPECT: a Forkable awaits Forkables, fork\(\) and join\(\) only
//
// A tree of calls stays on the stacks of agents until it ends: nothing in it waits for anything
// else.
#include <heist/fork.hpp>
#include <heist/promise.hpp>

heist::Forkable<int> call();
heist::Promise<int> promise();

heist::Forkable<int> awaiting() {
#ifdef HEIST_EXPECT_OK
  co_return co_await call();
#else
  co_return co_await promise();
#endif
}
