// Rule: LIF-4: what the combinators allocate, and what they do without memory.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "counters/counting.hpp"

namespace heist {
namespace {

using test::allocated_by;
using test::Allocations;
using test::NoMemory;

class Lif4Combinators : public test::LoopTest {
 protected:
  void resolve_both() {
    first.resolver.resolve(1);
    second.resolver.resolve(2);
    loop.run_until_idle();
  }
  void reject_both(const Reason& reason) {
    first.resolver.reject(reason);
    second.resolver.reject(reason);
    loop.run_until_idle();
  }
  [[nodiscard]] std::vector<Promise<int>> both() const { return {first.promise, second.promise}; }
  /// Without a promise to hold: it is dropped.
  void combine_all() const {
    static_cast<void>(when_all(scheduler, first.promise, second.promise));
    static_cast<void>(when_any(scheduler, first.promise, second.promise));
    static_cast<void>(race(scheduler, first.promise, second.promise));
  }

  PromiseWithResolver<int> first = Promise<int>::with_resolver();
  PromiseWithResolver<int> second = Promise<int>::with_resolver();
};

TEST_F(Lif4Combinators,
       call_when_of_promises_then_nodes_only_and_of_a_vector_its_inputs_and_values) {
  EXPECT_EQ(allocated_by([this] { combine_all(); }).by_new, 0U);
  const auto inputs = both();
  // At the most: compilers may do without a vector whose end they see.
  EXPECT_LE(allocated_by([&] { static_cast<void>(when_all(scheduler, inputs)); }).by_new, 2U);
  EXPECT_LE(allocated_by([&] { static_cast<void>(race(scheduler, inputs)); }).by_new, 1U);
}

TEST_F(Lif4Combinators, promises_when_they_settle_then_nothing_is_allocated) {
  const auto each = when_all(scheduler, first.promise, second.promise);
  const auto many = when_all(scheduler, both());
  const auto any = when_any(scheduler, both());
  const auto winner = race(scheduler, first.promise, second.promise);
  EXPECT_EQ(allocated_by([this] { resolve_both(); }), Allocations{});
  EXPECT_EQ(each.get(), std::tuple(1, 2));
  EXPECT_EQ(many.get(), (std::vector{1, 2}));
  EXPECT_EQ(any.get() + winner.get(), 2);
}

TEST_F(Lif4Combinators, close_when_promises_are_combined_then_nothing_is_allocated) {
  const auto all = when_all(scheduler, both());
  loop.close(CloseMode::abort());
  EXPECT_EQ(allocated_by([this] { resolve_both(); }), Allocations{});
  EXPECT_TRUE(test::is<InvalidStateError>(all.reason()));
}

class Lif4CombinatorsWithoutMemory : public Lif4Combinators {
 protected:
  void SetUp() override {
    if (!test::memory_can_fail()) GTEST_SKIP() << "this sanitizer's allocator never fails";
  }
  template <class Call>
  static bool fails(Call call) {
    const NoMemory none;
    return test::throws<std::bad_alloc>(call);
  }
};

TEST_F(Lif4CombinatorsWithoutMemory,
       call_when_it_fails_then_bad_alloc_and_the_inputs_are_untouched) {
  auto inputs = both();
  EXPECT_TRUE(fails([&] { static_cast<void>(when_all(scheduler, std::move(inputs))); }));
  EXPECT_TRUE(fails([&] { static_cast<void>(when_all(scheduler, std::move(first.promise))); }));
  EXPECT_TRUE(fails([&] { static_cast<void>(race(scheduler, second.promise)); }));
  EXPECT_TRUE(fails([&] { static_cast<void>(sleep_for(scheduler, std::chrono::seconds(1))); }));
  // NOLINTBEGIN(bugprone-use-after-move): that is the point.
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_TRUE(inputs.front().valid());
  EXPECT_TRUE(first.promise.valid());
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(loop.pending(), 0U);
  resolve_both();
}

TEST_F(Lif4CombinatorsWithoutMemory, any_when_all_reject_then_it_rejects_with_bad_alloc) {
  const Reason reason("made before");
  const auto any = when_any(scheduler, first.promise, second.promise);
  {
    const NoMemory none;
    reject_both(reason);
  }
  EXPECT_TRUE(test::is<std::bad_alloc>(any.reason()));
}

}  // namespace
}  // namespace heist
