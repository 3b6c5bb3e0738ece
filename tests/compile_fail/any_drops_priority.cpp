// EXPECT: the priority of a TaskSignal in the list would be lost
// Rule: PRI-2. A request's priority and a deadline: AbortSignal::any() would keep the abort only.
#include <heist/task_signal.hpp>

heist::AbortSignal limit(const heist::TaskSignal& request, const heist::AbortSignal& deadline) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(heist::AbortSignal::any({heist::AbortSignal(request), deadline}));
  return heist::TaskSignal::any({request, deadline}, request);
#else
  return heist::AbortSignal::any({request, deadline});
#endif
}
