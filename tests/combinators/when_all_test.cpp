// Rule: PRO-1, YLD-4: when_all, as Promise.all.
#include <gtest/gtest.h>

#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "combinators/probes.hpp"

namespace heist {
namespace {

using test::boxed;
using testing::ElementsAre;

class WhenAll : public test::CombinatorTest {
 protected:
  test::Pair<int> first = Promise<int>::with_resolver();
  test::Pair<int> second = Promise<int>::with_resolver();
};

TEST_F(WhenAll, values_when_the_inputs_settle_in_another_order_then_in_the_order_of_the_inputs) {
  const auto all = made_here([&] { return when_all(first.promise, second.promise); });
  second.resolver.resolve(2);
  loop.run_until_idle();
  EXPECT_FALSE(all.settled());
  first.resolver.resolve(1);
  loop.run_until_idle();
  EXPECT_EQ(all.get(), std::tuple(1, 2));
}

TEST_F(WhenAll, values_when_of_several_types_then_void_is_monostate_and_a_reference_is_wrapped) {
  int target = 5;
  const auto all = made_here([&] {
    return when_all(Promise<std::string>::resolved("text"), Promise<void>::resolved(),
                    Promise<int&>::resolved(target));
  });
  using Expected = std::tuple<std::string, std::monostate, std::reference_wrapper<int>>;
  static_assert(std::is_same_v<decltype(all), const Promise<Expected>>);
  loop.run_until_idle();
  EXPECT_EQ(std::get<0>(all.get()), "text");
  EXPECT_EQ(&std::get<2>(all.get()).get(), &target);
}

TEST_F(WhenAll, vector_when_all_fulfil_then_the_values_in_order) {
  const std::vector inputs{first.promise, second.promise, Promise<int>::resolved(3)};
  const auto all = made_here([&] { return when_all(inputs); });
  second.resolver.resolve(2);
  first.resolver.resolve(1);
  loop.run_until_idle();
  EXPECT_THAT(all.get(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(inputs.front().valid());
}

TEST_F(WhenAll, vector_when_of_void_then_void) {
  auto pair = Promise<void>::with_resolver();
  const auto all =
      made_here([&] { return when_all(std::vector{pair.promise, Promise<void>::resolved()}); });
  static_assert(std::is_same_v<decltype(all), const Promise<void>>);
  loop.run_until_idle();
  EXPECT_FALSE(all.settled());
  pair.resolver.resolve();
  loop.run_until_idle();
  EXPECT_EQ(all.status(), PromiseStatus::fulfilled);
}

TEST_F(WhenAll, vector_when_of_references_then_wrapped) {
  int target = 5;
  const auto all =
      made_here([&] { return when_all(std::vector{Promise<int&>::resolved(target)}); });
  loop.run_until_idle();
  EXPECT_EQ(&all.get().front().get(), &target);
}

TEST_F(WhenAll, vector_when_of_bool_then_the_values) {
  const auto all = made_here([&] {
    return when_all(std::vector{Promise<bool>::resolved(true), Promise<bool>::resolved(false)});
  });
  loop.run_until_idle();
  EXPECT_THAT(all.get(), ElementsAre(true, false));
}

TEST_F(WhenAll, no_inputs_when_combined_then_fulfilled_at_once) {
  in_task([] {
    EXPECT_EQ(when_all().status(), PromiseStatus::fulfilled);
    EXPECT_EQ(when_all(std::vector<Promise<int>>()).get(), std::vector<int>());
    EXPECT_EQ(when_all(std::vector<Promise<void>>()).status(), PromiseStatus::fulfilled);
  });
}

TEST_F(WhenAll, rejection_when_it_is_the_first_then_the_result_has_the_same_reason_at_once) {
  const auto all = made_here([&] { return when_all(first.promise, second.promise); });
  const Reason reason(std::runtime_error("second"));
  second.resolver.reject(reason);
  loop.run_until_idle();
  EXPECT_EQ(all.reason(), reason);
  first.resolver.reject(Reason(std::runtime_error("too late, and observed")));
  loop.run_until_idle();
  EXPECT_EQ(all.reason(), reason);
}

TEST_F(WhenAll, rejection_when_two_are_rejected_already_then_the_one_of_the_first_input) {
  const Reason reason(std::runtime_error("first"));
  const auto all = made_here([&] {
    return when_all(Promise<int>::rejected(reason),
                    Promise<void>::rejected(Reason(std::runtime_error("second"))));
  });
  loop.run_until_idle();
  EXPECT_EQ(all.reason(), reason);
}

TEST_F(WhenAll, rejection_when_nobody_looks_at_the_result_then_it_is_reported_at_once) {
  in_task([&] { static_cast<void>(when_all(first.promise, second.promise)); });
  first.resolver.reject(Reason(std::runtime_error("unseen")));
  loop.run_until_idle();
  EXPECT_THAT(errors.take(),
              ElementsAre(support::RecordedError{ErrorOrigin::unobserved_rejection, "unseen"}));
}

TEST_F(WhenAll, abort_when_nobody_looks_at_the_result_then_it_is_not_reported) {
  AbortController controller;
  const auto task = scheduler.post_task([] {}, {.signal = controller.signal()});
  in_task([&] { static_cast<void>(when_all(task, first.promise)); });
  controller.abort(std::runtime_error("an abort all the same"));
  loop.run_until_idle();
  EXPECT_EQ(first.promise.status(), PromiseStatus::pending);
}

TEST_F(WhenAll, move_only_when_passed_as_rvalues_then_the_values_are_moved_out) {
  auto all = made_here([&] {
    return when_all(Promise<std::unique_ptr<int>>::resolved(boxed(1)), Promise<int>::resolved(2));
  });
  loop.run_until_idle();
  const auto values = std::move(all).get();
  EXPECT_EQ(*std::get<0>(values), 1);
}

TEST_F(WhenAll, move_only_when_in_a_vector_then_the_values_are_moved_out) {
  std::vector<Promise<std::unique_ptr<int>>> inputs;
  inputs.push_back(Promise<std::unique_ptr<int>>::resolved(boxed(1)));
  inputs.push_back(Promise<std::unique_ptr<int>>::resolved(boxed(2)));
  auto all = made_here([&] { return when_all(std::move(inputs)); });
  loop.run_until_idle();
  EXPECT_EQ(*std::move(all).get().back(), 2);
}

TEST_F(WhenAll, move_only_when_the_value_was_taken_before_then_invalid_state) {
  auto source = Promise<std::unique_ptr<int>>::resolved(boxed(1));
  auto copy = source;
  static_cast<void>(std::move(copy).get());
  const auto all = made_here([&] { return when_all(std::move(source)); });
  loop.run_until_idle();
  EXPECT_THROW(static_cast<void>(all.get()), InvalidStateError);
}

TEST_F(WhenAll, move_only_when_another_input_rejects_then_the_value_stays_with_its_promise) {
  auto source = Promise<std::unique_ptr<int>>::resolved(boxed(1));
  auto copy = source;
  const auto all =
      made_here([&] { return when_all(std::move(source), Promise<int>::rejected(Reason("no"))); });
  loop.run_until_idle();
  EXPECT_EQ(all.status(), PromiseStatus::rejected);
  EXPECT_EQ(*std::move(copy).get(), 1);
}

/// Throws when it is copied; its promise is made without.
struct Uncopyable {
  explicit Uncopyable(int) {}
  Uncopyable(const Uncopyable&) { throw std::runtime_error("not this one"); }
  Uncopyable(Uncopyable&&) = default;
  Uncopyable& operator=(const Uncopyable&) = delete;
  Uncopyable& operator=(Uncopyable&&) = delete;
  ~Uncopyable() = default;
};

TEST_F(WhenAll, value_when_its_copying_throws_then_the_result_rejects_with_that) {
  const auto each = made_here([&] { return when_all(Promise<Uncopyable>::resolved(1)); });
  const auto many =
      made_here([&] { return when_all(std::vector{Promise<Uncopyable>::resolved(1)}); });
  loop.run_until_idle();
  EXPECT_EQ(each.reason().what(), "not this one");
  EXPECT_EQ(many.reason().what(), "not this one");
}

TEST_F(WhenAll, same_promise_when_twice_then_its_value_twice) {
  const auto all = made_here([&] { return when_all(first.promise, first.promise); });
  first.resolver.resolve(4);
  loop.run_until_idle();
  EXPECT_EQ(all.get(), std::tuple(4, 4));
}

TEST_F(WhenAll, call_when_off_an_agent_then_not_allowed_and_the_inputs_are_untouched) {
  std::vector inputs{first.promise};
  EXPECT_THROW(static_cast<void>(when_all(std::move(inputs))), NotAllowedError);
  ASSERT_EQ(inputs.size(), 1U);  // NOLINT(bugprone-use-after-move): that is the point.
  EXPECT_TRUE(inputs.front().valid());
  EXPECT_THROW(static_cast<void>(when_all()), NotAllowedError);
}

TEST_F(WhenAll, call_when_off_an_agent_with_a_scheduler_then_settles_there) {
  const auto all = when_all(scheduler, first.promise, Promise<int>::resolved(2));
  const auto none = when_all(scheduler);
  EXPECT_EQ(none.status(), PromiseStatus::fulfilled);
  first.resolver.resolve(1);
  EXPECT_FALSE(all.settled());
  loop.run_until_idle();
  EXPECT_EQ(all.get(), std::tuple(1, 2));
}

// Rule: CLU-5
TEST_F(WhenAll, get_when_only_this_agent_could_settle_it_then_not_allowed) {
  in_task([&] {
    const auto all = when_all(first.promise);
    EXPECT_THROW(static_cast<void>(all.get()), NotAllowedError);
  });
  first.resolver.resolve(1);
}

}  // namespace
}  // namespace heist
