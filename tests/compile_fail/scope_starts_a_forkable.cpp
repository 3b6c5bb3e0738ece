// EXPECT: nobody would run what the callback returns
// A Forkable runs when somebody awaits it; a coroutine of the scope can.
#include <heist/fork.hpp>
#include <heist/task_scope.hpp>

heist::Forkable<> call();

void start(heist::TaskScope& scope) {
#ifdef HEIST_EXPECT_OK
  scope.start([]() -> heist::Promise<void> { co_await call(); });
#else
  scope.start([] { return call(); });
#endif
}
