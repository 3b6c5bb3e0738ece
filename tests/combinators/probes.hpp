// What the tests of the combinators share: promises that a test settles, and a look at the outcome.
#pragma once

#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist::test {

template <class T>
using Pair = PromiseWithResolver<T>;

class CombinatorTest : public support::VirtualLoopFixture {
 protected:
  /// Makes a promise within a task of the loop.
  template <class Make>
  [[nodiscard]] auto made_here(Make make) {
    std::optional<decltype(make())> made;
    in_task([&] { made.emplace(make()); });
    return *std::move(made);
  }
};

[[nodiscard]] inline std::unique_ptr<int> boxed(int value) { return std::make_unique<int>(value); }

}  // namespace heist::test
