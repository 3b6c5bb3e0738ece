// EXPECT: await_ready|co_await
// A join that is kept and awaited later is as good as none until then: a close that comes between
// finds a scope that nobody joins.
#include <heist/task_scope.hpp>
#include <utility>

heist::Promise<void> join(heist::TaskScope& scope) {
  auto joined = scope.join();
#ifdef HEIST_EXPECT_OK
  co_await std::move(joined);
#else
  co_await joined;
#endif
}
