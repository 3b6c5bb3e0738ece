// EXPECT: deleted
// A scope is where its tasks expect it.
#include <heist/task_scope.hpp>
#include <utility>

void move(heist::TaskScope& scope) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(scope.signal());
#else
  heist::TaskScope moved(std::move(scope));
  static_cast<void>(moved.signal());
#endif
}
