// EXPECT: nobody would see what the callback returns
// A scope has nowhere to keep what its tasks return.
#include <heist/task_scope.hpp>

int answer();

void start(heist::TaskScope& scope) {
#ifdef HEIST_EXPECT_OK
  int result = 0;
  scope.start([&result] { result = answer(); });
#else
  scope.start([] { return answer(); });
#endif
}
