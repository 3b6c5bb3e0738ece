// EXPECT: no matching function for call
#include <heist/combinators.hpp>

void combine(const heist::Promise<int>& promise) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(heist::race(promise));
#else
  static_cast<void>(promise);
  static_cast<void>(heist::race());
#endif
}
