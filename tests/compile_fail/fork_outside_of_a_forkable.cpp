// EXPECT: fork\(\) is awaited in a Forkable
//
// What is left of a coroutine that awaits promises cannot wait in the deque of an agent.
#include <heist/fork.hpp>
#include <heist/promise.hpp>

heist::Forkable<int> call();

heist::Promise<int> awaiting() {
#ifdef HEIST_EXPECT_OK
  co_return co_await call();
#else
  heist::Forked<int> child = co_await fork(call());
  co_return 1;
#endif
}
