// EXPECT: the priority of a TaskSignal in the list would be lost
// Rule: PRI-2. Without a priority the combined signal would be user-visible, whatever the request's
//         is.
#include <heist/task_signal.hpp>

heist::TaskSignal limit(const heist::TaskController& request, const heist::AbortSignal& deadline) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(heist::TaskSignal::any({deadline}));
  return heist::TaskSignal::any({request.signal(), deadline}, heist::TaskPriority::user_visible);
#else
  return heist::TaskSignal::any({request.signal(), deadline});
#endif
}
