// EXPECT: no matching function for call
#include <heist/combinators.hpp>
#include <memory>
#include <utility>

void combine(heist::Promise<std::unique_ptr<int>> promise) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(heist::when_all(std::move(promise)));
#else
  static_cast<void>(heist::when_all(promise));
#endif
}
