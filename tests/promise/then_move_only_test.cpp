// Rule: PRO-1: then() of promises whose values are move-only.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using Number = std::unique_ptr<int>;

class ThenMoveOnly : public test::LoopTest {
 protected:
  [[nodiscard]] Promise<Number> number(int value) const {
    return scheduler.post_task([value] { return std::make_unique<int>(value); });
  }
};

TEST_F(ThenMoveOnly, then_when_of_an_rvalue_then_the_callback_keeps_the_value) {
  Number kept;
  const auto promise =
      number(7).then(scheduler, [&kept](Number value) { kept = std::move(value); });
  loop.run_until_idle();
  EXPECT_EQ(promise.status(), PromiseStatus::fulfilled);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, 7);
}

TEST_F(ThenMoveOnly, then_when_chained_then_each_callback_hands_the_value_on) {
  const auto add_one = [](Number value) {
    ++*value;
    return value;
  };
  Promise<int> last = Promise<int>::resolved(0);
  run_task([&] {
    last = number(1).then(add_one).then(add_one).then([](Number&& value) { return *value; });
  });
  EXPECT_EQ(last.get(), 3);
}

TEST_F(ThenMoveOnly, then_when_of_a_named_promise_then_it_only_looks) {
  auto promise = number(5);
  const auto looked = promise.then(scheduler, [](const Number& value) { return *value; });
  loop.run_until_idle();
  EXPECT_EQ(looked.get(), 5);
  EXPECT_EQ(*std::move(promise).get(), 5);
}

TEST_F(ThenMoveOnly, then_when_the_value_was_taken_before_then_rejects) {
  auto promise = number(5);
  const auto other = promise;
  const auto take = [](const Number& value) { return *value; };
  const auto first = Promise<Number>(promise).then(scheduler, take);
  const auto second = std::move(promise).then(scheduler, take);
  loop.run_until_idle();
  EXPECT_EQ(first.get(), 5);
  EXPECT_TRUE(test::is<InvalidStateError>(second.reason()));
}

TEST_F(ThenMoveOnly, then_when_the_promise_rejects_then_the_second_callback_runs) {
  auto [promise, resolver] = Promise<Number>::with_resolver();
  const auto result = std::move(promise).then(
      scheduler, [](Number value) { return *value; }, [](const Reason&) { return -1; });
  resolver.reject(Reason("no number"));
  loop.run_until_idle();
  EXPECT_EQ(result.get(), -1);
}

TEST_F(ThenMoveOnly, then_when_the_callback_returns_a_promise_then_it_is_adopted) {
  const auto result = number(20).then(scheduler, [this](Number value) {
    return number(*value + 1).then([](Number next) { return *next; });
  });
  loop.run_until_idle();
  EXPECT_EQ(result.get(), 21);
}

TEST_F(ThenMoveOnly, then_when_of_an_rvalue_of_a_copyable_value_then_other_handles_keep_it) {
  auto promise = Promise<std::string>::resolved("kept");
  const auto other = promise;
  const auto size =
      std::move(promise).then(scheduler, [](const std::string& text) { return text.size(); });
  loop.run_until_idle();
  EXPECT_EQ(size.get(), 4U);
  EXPECT_EQ(other.get(), "kept");
}

TEST_F(ThenMoveOnly, room_when_waited_for_by_then_then_the_callback_posts_with_it) {
  const BoundedScheduler bounded(scheduler, 1);
  bool ran = false;
  static_cast<void>(bounded.room().then(scheduler, [&](Room room) {
    EXPECT_EQ(bounded.post(std::move(room), [&ran] { ran = true; }), PostResult::posted);
  }));
  loop.run_until_idle();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace heist
