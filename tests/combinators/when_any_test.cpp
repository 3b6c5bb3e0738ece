// Rule: PRO-1, YLD-4: when_any, as Promise.any.
#include <gtest/gtest.h>

#include <functional>
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

using test::boxed;
using testing::ElementsAre;
using testing::IsEmpty;

/// The reasons of a promise that rejected with an AggregateError.
template <class T>
[[nodiscard]] std::vector<Reason> reasons_of(const Promise<T>& promise) {
  try {
    promise.get();
  } catch (const AggregateError& error) {
    return error.reasons();
  }
  return {};
}

class WhenAny : public test::CombinatorTest {
 protected:
  test::Pair<int> first = Promise<int>::with_resolver();
  test::Pair<int> second = Promise<int>::with_resolver();
  const Reason one{std::runtime_error("one")};
  const Reason two{std::runtime_error("two")};
};

TEST_F(WhenAny, value_when_another_input_rejected_before_then_the_first_value) {
  const auto any = made_here([&] { return when_any(first.promise, second.promise); });
  static_assert(std::is_same_v<decltype(any), const Promise<int>>);
  first.resolver.reject(one);
  loop.run_until_idle();
  EXPECT_FALSE(any.settled());
  second.resolver.resolve(2);
  loop.run_until_idle();
  EXPECT_EQ(any.get(), 2);
}

TEST_F(WhenAny, value_when_all_are_there_already_then_that_of_the_first_input) {
  const auto any = made_here(
      [&] { return when_any(std::vector{Promise<int>::resolved(1), Promise<int>::resolved(2)}); });
  loop.run_until_idle();
  EXPECT_EQ(any.get(), 1);
}

TEST_F(WhenAny, value_when_of_several_types_then_a_variant_that_tells_which_input_it_was) {
  int target = 5;
  using Expected =
      std::variant<int, std::monostate, std::reference_wrapper<int>, int, std::monostate>;
  auto last = Promise<void>::with_resolver();
  const auto any = made_here([&] {
    return when_any(first.promise, Promise<void>::rejected(one), Promise<int&>::rejected(two),
                    second.promise, last.promise);
  });
  static_assert(std::is_same_v<decltype(any), const Promise<Expected>>);
  const auto reference = made_here([&] {
    return when_any(first.promise, Promise<void>::rejected(one), Promise<int&>::resolved(target));
  });
  second.resolver.resolve(7);
  last.resolver.resolve();
  loop.run_until_idle();
  ASSERT_EQ(any.get().index(), 3U);
  EXPECT_EQ(std::get<3>(any.get()), 7);
  EXPECT_EQ(&std::get<2>(reference.get()).get(), &target);
}

TEST_F(WhenAny, value_when_all_are_void_or_references_then_the_same) {
  int target = 5;
  const auto nothing =
      made_here([&] { return when_any(Promise<void>::rejected(one), Promise<void>::resolved()); });
  const auto reference = made_here([&] { return when_any(Promise<int&>::resolved(target)); });
  static_assert(std::is_same_v<decltype(nothing), const Promise<void>>);
  static_assert(std::is_same_v<decltype(reference), const Promise<int&>>);
  loop.run_until_idle();
  EXPECT_EQ(nothing.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(&reference.get(), &target);
}

TEST_F(WhenAny, rejections_when_all_reject_then_an_aggregate_in_the_order_of_the_inputs) {
  const auto any = made_here([&] { return when_any(first.promise, second.promise); });
  second.resolver.reject(two);
  loop.run_until_idle();
  EXPECT_FALSE(any.settled());
  first.resolver.reject(one);
  loop.run_until_idle();
  EXPECT_THAT(reasons_of(any), ElementsAre(one, two));
}

TEST_F(WhenAny, no_inputs_when_combined_then_an_empty_aggregate_at_once) {
  const auto any = made_here([&] { return when_any(std::vector<Promise<int>>()); });
  EXPECT_EQ(any.status(), PromiseStatus::rejected);
  EXPECT_THROW(static_cast<void>(any.get()), AggregateError);
  EXPECT_THAT(reasons_of(any), IsEmpty());
}

// Rule: PRO-3
TEST_F(WhenAny, rejections_when_nobody_looks_then_reported_once_unless_all_are_aborts) {
  in_task([&] { static_cast<void>(when_any(first.promise, second.promise)); });
  first.resolver.reject(Reason(AbortError()));
  second.resolver.reject(two);
  loop.run_until_idle();
  EXPECT_THAT(errors.take(), ElementsAre(support::RecordedError{ErrorOrigin::unobserved_rejection,
                                                                "all promises were rejected"}));
  in_task([] { static_cast<void>(when_any(Promise<int>::rejected(Reason(AbortError())))); });
  loop.run_until_idle();
  EXPECT_THAT(errors.take(), IsEmpty());
}

TEST_F(WhenAny, move_only_when_passed_as_rvalues_then_the_first_value_is_moved_out) {
  auto other = Promise<std::unique_ptr<int>>::resolved(boxed(2));
  auto kept = other;
  auto any = made_here([&] {
    return when_any(Promise<std::unique_ptr<int>>::resolved(boxed(1)), std::move(other));
  });
  loop.run_until_idle();
  EXPECT_EQ(*std::move(any).get(), 1);
  EXPECT_EQ(*std::move(kept).get(), 2);
}

TEST_F(WhenAny, move_only_when_one_of_several_types_then_it_is_moved_into_the_variant) {
  auto any = made_here([&] {
    return when_any(Promise<int>::rejected(one), Promise<std::unique_ptr<int>>::resolved(boxed(1)));
  });
  loop.run_until_idle();
  EXPECT_EQ(*std::get<1>(std::move(any).get()), 1);
}

TEST_F(WhenAny, call_when_off_an_agent_then_needs_a_scheduler) {
  EXPECT_THROW(static_cast<void>(when_any(first.promise)), NotAllowedError);
  const auto any = when_any(scheduler, std::vector{first.promise, second.promise});
  second.resolver.resolve(2);
  loop.run_until_idle();
  EXPECT_EQ(any.get(), 2);
}

}  // namespace
}  // namespace heist
