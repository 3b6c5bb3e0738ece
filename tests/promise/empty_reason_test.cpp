// Rule: PRO-2: a rejected promise has a reason, also when whoever rejected it gave none.
#include <gtest/gtest.h>

#include <heist/heist.hpp>

#include "api/probes.hpp"

namespace heist {
namespace {

class Pro2EmptyReason : public test::LoopTest {
 protected:
  template <class T>
  static void expect_rejected_without_a_reason(const Promise<T>& promise) {
    EXPECT_EQ(promise.status(), PromiseStatus::rejected);
    EXPECT_EQ(promise.reason().what(), "rejected without a reason");
  }
};

// Rule: PRO-2
TEST_F(Pro2EmptyReason, rejected_when_the_reason_is_empty_then_the_promise_has_one) {
  expect_rejected_without_a_reason(Promise<int>::rejected(Reason()));
}

// Rule: PRO-2
TEST_F(Pro2EmptyReason, reject_when_the_reason_is_empty_then_the_promise_has_one) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  resolver.reject({});
  expect_rejected_without_a_reason(promise);
  EXPECT_THROW(promise.get(), Aborted);
}

// Rule: PRO-2
TEST_F(Pro2EmptyReason, post_task_when_the_callback_throws_an_empty_aborted_then_has_a_reason) {
  const auto promise = scheduler.post_task([] { throw Aborted(Reason()); });
  loop.run_until_idle();
  expect_rejected_without_a_reason(promise);
}

// Rule: PRO-2
TEST_F(Pro2EmptyReason, then_when_the_callback_throws_an_empty_aborted_then_has_a_reason) {
  const auto promise = Promise<void>::resolved().then(scheduler, [] { throw Aborted(Reason()); });
  loop.run_until_idle();
  expect_rejected_without_a_reason(promise);
}

Promise<int> abort_without_a_reason() {
  throw Aborted(Reason());
  co_return 1;
}

// Rule: PRO-2
TEST_F(Pro2EmptyReason, coroutine_when_its_body_throws_an_empty_aborted_then_has_a_reason) {
  expect_rejected_without_a_reason(abort_without_a_reason());
}

}  // namespace
}  // namespace heist
