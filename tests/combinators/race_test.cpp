// Rule: PRO-1, YLD-4: race, as Promise.race.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "combinators/probes.hpp"

namespace heist {
namespace {

class Race : public test::CombinatorTest {
 protected:
  test::Pair<int> first = Promise<int>::with_resolver();
  test::Pair<int> second = Promise<int>::with_resolver();
};

TEST_F(Race, outcome_when_the_first_to_settle_fulfils_then_its_value) {
  const auto winner = made_here([&] { return race(first.promise, second.promise); });
  static_assert(std::is_same_v<decltype(winner), const Promise<int>>);
  second.resolver.resolve(2);
  loop.run_until_idle();
  EXPECT_EQ(winner.get(), 2);
  first.resolver.resolve(1);
  loop.run_until_idle();
  EXPECT_EQ(winner.get(), 2);
}

TEST_F(Race, outcome_when_the_first_to_settle_rejects_then_the_same_reason) {
  const auto winner = made_here([&] { return race(std::vector{first.promise, second.promise}); });
  const Reason reason(std::runtime_error("first"));
  first.resolver.reject(reason);
  second.resolver.resolve(2);
  loop.run_until_idle();
  EXPECT_EQ(winner.reason(), reason);
}

TEST_F(Race, outcome_when_all_are_settled_then_that_of_the_first_input) {
  const Reason reason("first");
  const auto winner =
      made_here([&] { return race(Promise<int>::rejected(reason), Promise<int>::resolved(2)); });
  loop.run_until_idle();
  EXPECT_EQ(winner.reason(), reason);
}

TEST_F(Race, outcome_when_of_several_types_then_a_variant) {
  const auto winner =
      made_here([&] { return race(first.promise, Promise<void>::resolved(), second.promise); });
  using Expected = std::variant<int, std::monostate, int>;
  static_assert(std::is_same_v<decltype(winner), const Promise<Expected>>);
  loop.run_until_idle();
  EXPECT_EQ(winner.get().index(), 1U);
}

TEST_F(Race, abort_when_it_decides_and_nobody_looks_then_it_is_not_reported) {
  in_task([] { static_cast<void>(race(Promise<int>::rejected(Reason(AbortError())))); });
  loop.run_until_idle();
}

TEST_F(Race, no_inputs_when_in_a_vector_then_invalid_argument) {
  in_task([] {
    EXPECT_THROW(static_cast<void>(race(std::vector<Promise<int>>())), std::invalid_argument);
  });
  EXPECT_THROW(static_cast<void>(race(scheduler, std::vector<Promise<int>>())),
               std::invalid_argument);
}

TEST_F(Race, call_when_off_an_agent_then_needs_a_scheduler) {
  EXPECT_THROW(static_cast<void>(race(first.promise)), NotAllowedError);
  const auto winner = race(scheduler, first.promise, second.promise);
  first.resolver.resolve(1);
  loop.run_until_idle();
  EXPECT_EQ(winner.get(), 1);
}

TEST_F(Race, move_only_when_passed_as_an_rvalue_then_the_value_is_moved_out) {
  auto winner = made_here([&] {
    return race(Promise<std::unique_ptr<int>>::resolved(test::boxed(1)),
                Promise<std::unique_ptr<int>>::resolved(test::boxed(2)));
  });
  loop.run_until_idle();
  EXPECT_EQ(*std::move(winner).get(), 1);
}

}  // namespace
}  // namespace heist
