// Rule: PRO-1: when a coroutine's promise settles, its frame is gone, parameters included.
#include <gtest/gtest.h>

#include <functional>
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "api/probes.hpp"
#include "support/live_count.hpp"

namespace heist {
namespace {

using Parameter = support::AtDestruction<std::function<void()>>;

Promise<int> give_value(Promise<void> source, Parameter /*parameter*/) {
  co_await source;
  co_return 1;
}

Promise<void> give_nothing(Promise<void> source, Parameter /*parameter*/) { co_await source; }

Promise<int> give_up(Promise<void> source, Parameter /*parameter*/) {
  co_await source;
  throw std::domain_error("from the body");
}

class Pro1FrameEnd : public test::LoopTest {
 protected:
  /// Starts the coroutine and lets it end; whether its promise was settled when its parameter went.
  template <class T>
  std::optional<bool> settled_when_the_parameter_goes(Promise<T> (*coroutine)(Promise<void>,
                                                                              Parameter),
                                                      std::optional<Promise<T>>& result) {
    std::optional<bool> settled;
    auto [source, resolver] = Promise<void>::with_resolver();
    run_task([&, gate = source] {
      result = coroutine(gate, Parameter([&] { settled = result->settled(); }));
    });
    EXPECT_FALSE(settled.has_value());
    run_task([&settler = resolver] { settler.resolve(); });
    return settled;
  }
};

// Rule: PRO-1
TEST_F(Pro1FrameEnd, coroutine_when_it_returns_a_value_then_settles_after_its_parameters_are_gone) {
  std::optional<Promise<int>> result;
  EXPECT_EQ(settled_when_the_parameter_goes(&give_value, result), false);
  EXPECT_EQ(result->get(), 1);
}

// Rule: PRO-1
TEST_F(Pro1FrameEnd, coroutine_when_it_returns_nothing_then_settles_after_its_parameters_are_gone) {
  std::optional<Promise<void>> result;
  EXPECT_EQ(settled_when_the_parameter_goes(&give_nothing, result), false);
  EXPECT_EQ(result->status(), PromiseStatus::fulfilled);
}

// Rule: PRO-1
TEST_F(Pro1FrameEnd, coroutine_when_it_throws_then_settles_after_its_parameters_are_gone) {
  std::optional<Promise<int>> result;
  EXPECT_EQ(settled_when_the_parameter_goes(&give_up, result), false);
  EXPECT_THROW(result->get(), std::domain_error);
}

}  // namespace
}  // namespace heist
