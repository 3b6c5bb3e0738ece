// EXPECT: no matching function for call
#include <heist/combinators.hpp>
#include <vector>

void combine(const heist::Promise<int>& promise) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(heist::when_any(std::vector{promise}));
#else
  static_cast<void>(heist::when_any(std::vector{promise}, promise));
#endif
}
