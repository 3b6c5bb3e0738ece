// Rule: PRO-1, LIF-1: Promise<T>::with_resolver, resolved and rejected.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

static_assert(!std::is_copy_constructible_v<Resolver<int>>, "the right to settle is one");

// Rule: PRO-1
TEST(Pro1Resolver, resolve_when_first_then_the_promise_has_the_value) {
  auto [promise, resolver] = Promise<std::string>::with_resolver();
  EXPECT_FALSE(promise.settled());
  resolver.resolve(3U, 'x');
  EXPECT_EQ(promise.get(), "xxx");
}

// Rule: ABT-1 (settles once, first wins)
TEST(Pro1Resolver, resolve_when_called_again_then_ignored) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  resolver.resolve(1);
  resolver.resolve(2);
  resolver.reject(Reason("late"));
  EXPECT_EQ(promise.get(), 1);
}

// Rule: ABT-1
TEST(Pro1Resolver, reject_when_first_then_a_later_resolve_is_ignored) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  const Reason reason("first");
  resolver.reject(reason);
  resolver.resolve(1);
  EXPECT_EQ(promise.reason(), reason);
}

// Rule: LIF-1
TEST(Pro1Resolver, resolver_when_dropped_then_the_promise_rejects_with_invalid_state) {
  auto pair = std::make_optional(Promise<int>::with_resolver());
  const auto promise = pair->promise;
  pair.reset();
  EXPECT_THROW(promise.get(), InvalidStateError);
}

// Rule: LIF-1
TEST(Pro1Resolver, resolver_when_moved_then_only_the_new_one_counts) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  {
    Resolver<int> moved(std::move(resolver));
    EXPECT_FALSE(promise.settled());
    moved.resolve(4);
  }
  EXPECT_EQ(promise.get(), 4);
}

// Rule: LIF-1
TEST(Pro1Resolver, resolver_when_assigned_to_then_both_promises_settle_in_the_end) {
  auto first = std::make_optional(Promise<int>::with_resolver());
  auto second = std::make_optional(Promise<int>::with_resolver());
  const auto kept = second->promise;
  const auto replaced = first->promise;
  first->resolver = std::move(second->resolver);
  second.reset();
  EXPECT_FALSE(kept.settled());
  first->resolver.resolve(8);
  first.reset();
  EXPECT_EQ(kept.get(), 8);
  EXPECT_TRUE(test::is<InvalidStateError>(replaced.reason()));
}

/// A value that cannot be made.
struct Stubborn {
  explicit Stubborn(bool fail) {
    if (fail) throw std::domain_error("no value");
  }
};

// Rule: PRO-1
TEST(Pro1Resolver, resolve_when_making_the_value_throws_then_the_promise_is_still_to_settle) {
  auto [promise, resolver] = Promise<Stubborn>::with_resolver();
  EXPECT_THROW(resolver.resolve(true), std::domain_error);
  EXPECT_FALSE(promise.settled());
  resolver.resolve(false);
  EXPECT_EQ(promise.status(), PromiseStatus::fulfilled);
}

// Rule: PRO-1
TEST(Pro1Resolver, resolve_when_on_another_thread_then_the_waiting_one_gets_the_value) {
  auto [promise, resolver] = Promise<std::unique_ptr<int>>::with_resolver();
  std::thread settler(
      [owned = std::move(resolver)]() mutable { owned.resolve(std::make_unique<int>(5)); });
  const std::unique_ptr<int> value = std::move(promise).get();
  settler.join();
  EXPECT_EQ(*value, 5);
}

// Rule: PRO-1
TEST(Pro1Resolver, resolved_when_made_then_settled_at_once) {
  EXPECT_EQ(Promise<int>::resolved(3).get(), 3);
  EXPECT_EQ(Promise<void>::resolved().status(), PromiseStatus::fulfilled);
}

// Rule: PRO-1, PRO-2
TEST(Pro1Resolver, rejected_when_made_then_get_throws_the_reason) {
  EXPECT_THROW(Promise<int>::rejected(Reason(std::out_of_range("x"))).get(), std::out_of_range);
  EXPECT_THROW(Promise<void>::rejected(Reason(1)).get(), Aborted);
}

}  // namespace
}  // namespace heist
