// EXPECT: requires holding
// ONLY: Clang
// Thread-safety analysis knows which functions are the agent's.
#include "../../src/heist/loop/loop_core.hpp"

void collect(heist::detail::LoopCore& loop) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(loop.on_agent());
#endif
  static_cast<void>(loop.collect_work());
}
