// Rule: PRO-1, PRO-2, PRO-3; WPT: PT-03.
#include <gtest/gtest.h>

#include <exception>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::ErrorLog;
using test::LoopTest;

/// More than its base knows of.
struct DetailedError : std::runtime_error {
  explicit DetailedError(int detail_value) : runtime_error("detailed"), detail(detail_value) {}
  int detail;
};

class Pro2Errors : public LoopTest {};

// Rule: PRO-2
TEST_F(Pro2Errors, WPT_PT_03_get_when_callback_threw_then_it_throws_the_same_object) {
  std::exception_ptr thrown;
  const auto promise = scheduler.post_task([&thrown] {
    try {
      throw DetailedError(17);
    } catch (...) {
      thrown = std::current_exception();
      throw;
    }
  });
  loop.run_until_idle();
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(promise.reason().exception(), thrown);
  EXPECT_TRUE(test::throws<DetailedError>([&] { promise.get(); }));
}

// Rule: PRO-2
TEST_F(Pro2Errors, get_when_exception_is_derived_then_not_sliced) {
  const auto promise = scheduler.post_task([]() -> int { throw DetailedError(17); });
  loop.run_until_idle();
  try {
    promise.get();
    FAIL() << "get() returned";
  } catch (const std::runtime_error& error) {
    const auto* detailed = dynamic_cast<const DetailedError*>(&error);
    ASSERT_NE(detailed, nullptr);
    EXPECT_EQ(detailed->detail, 17);
  }
}

// Rule: PRO-2
TEST_F(Pro2Errors, WPT_PT_03_get_when_callback_threw_what_is_no_std_exception_then_it_throws_that) {
  const auto promise = scheduler.post_task([] { throw 42; });
  loop.run_until_idle();
  try {
    promise.get();
    FAIL() << "get() returned";
  } catch (int value) {
    EXPECT_EQ(value, 42);
  }
}

// Rule: PRO-1
TEST_F(Pro2Errors, get_when_called_on_several_handles_then_each_throws) {
  const auto promise = scheduler.post_task([] { throw DetailedError(1); });
  const auto other = promise;
  loop.run_until_idle();
  EXPECT_THROW(promise.get(), DetailedError);
  EXPECT_THROW(promise.get(), DetailedError);
  EXPECT_THROW(other.get(), DetailedError);
}

// Rule: PRO-2
TEST_F(Pro2Errors, get_when_aborted_without_a_reason_then_abort_error) {
  AbortController controller;
  const auto promise = scheduler.post_task([] {}, {.signal = controller.signal()});
  controller.abort();
  EXPECT_THROW(promise.get(), AbortError);
}

// Rule: PRO-2
TEST_F(Pro2Errors, get_when_aborted_with_an_exception_then_it_throws_that_exception) {
  AbortController controller;
  const auto promise = scheduler.post_task([] {}, {.signal = controller.signal()});
  controller.abort(DetailedError(5));
  EXPECT_THROW(promise.get(), DetailedError);
}

// Rule: PRO-2
TEST_F(Pro2Errors, get_when_aborted_with_a_plain_value_then_aborted_carries_it) {
  AbortController controller;
  const auto promise = scheduler.post_task([] {}, {.signal = controller.signal()});
  controller.abort("no longer wanted");
  try {
    promise.get();
    FAIL() << "get() returned";
  } catch (const Aborted& aborted) {
    EXPECT_EQ(aborted.reason(), controller.signal().reason());
    ASSERT_NE(aborted.reason().value<std::string>(), nullptr);
    EXPECT_EQ(*aborted.reason().value<std::string>(), "no longer wanted");
  }
}

// Rule: PRO-2 (0 and "" are ordinary reasons; conformance FORMAT.md 2)
TEST_F(Pro2Errors, reason_when_the_plain_value_is_zero_then_it_is_a_reason) {
  AbortController controller;
  const auto promise = scheduler.post_task([] {}, {.signal = controller.signal()});
  controller.abort(0);
  EXPECT_TRUE(controller.signal().aborted());
  ASSERT_NE(promise.reason().value<int>(), nullptr);
  EXPECT_EQ(*promise.reason().value<int>(), 0);
}

// Rule: PRO-2 (null is a reason of its own; conformance FORMAT.md 6, `abort`)
TEST_F(Pro2Errors, reason_when_the_plain_value_is_null_then_it_is_a_reason) {
  AbortController controller;
  controller.abort(nullptr);
  EXPECT_TRUE(controller.signal().aborted());
  EXPECT_NE(controller.signal().reason().value<std::nullptr_t>(), nullptr);
}

// Rule: PRO-2
TEST_F(Pro2Errors,
       reason_when_rejected_with_a_plain_value_then_aborted_is_thrown_by_reactions_too) {
  const auto source = Promise<int>::rejected(Reason(7));
  Promise<int> result = Promise<int>::resolved(0);
  run_task([&] { result = source.then([](int value) { return value; }); });
  EXPECT_THROW(result.get(), Aborted);
  EXPECT_EQ(result.reason(), source.reason());
}

class Pro3 : public LoopTest {
 protected:
  /// A promise of the loop that is rejected by an exception.
  Promise<int> rejected_promise() {
    auto promise = scheduler.post_task([]() -> int { throw DetailedError(1); });
    loop.run_until_idle();
    return promise;
  }

  ErrorLog log;
};

// Rule: PRO-3
TEST_F(Pro3, rejection_when_nobody_observed_it_then_reported_once_when_the_last_handle_goes) {
  const auto before = reported_error_count();
  {
    const auto promise = rejected_promise();
    const auto other = promise;
    EXPECT_TRUE(log.take().empty());
  }
  const auto entries = log.take();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].origin, ErrorOrigin::unobserved_rejection);
  EXPECT_TRUE(test::is<DetailedError>(entries[0].reason));
  EXPECT_EQ(reported_error_count(), before + 1);
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_the_handle_was_dropped_before_it_settled_then_reported) {
  static_cast<void>(scheduler.post_task([] { throw DetailedError(1); }));
  EXPECT_TRUE(log.take().empty());
  loop.run_until_idle();
  EXPECT_EQ(log.take().size(), 1U);
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_get_threw_it_then_not_reported) {
  EXPECT_THROW(rejected_promise().get(), DetailedError);
  EXPECT_TRUE(log.take().empty());
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_its_reason_was_read_then_not_reported) {
  EXPECT_TRUE(rejected_promise().reason());
  EXPECT_TRUE(log.take().empty());
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_only_its_settlement_was_waited_for_then_reported) {
  EXPECT_TRUE(rejected_promise().wait_for(std::chrono::seconds::zero()));
  EXPECT_EQ(log.take().size(), 1U);
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_a_reaction_recovers_then_not_reported) {
  run_task([this] {
    static_cast<void>(scheduler.post_task([]() -> int { throw DetailedError(1); })
                          .then([](int value) { return value; }, [](const Reason&) { return 0; }));
  });
  EXPECT_TRUE(log.take().empty());
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_it_passes_through_reactions_then_only_the_last_one_is_reported) {
  run_task([this] {
    static_cast<void>(scheduler.post_task([]() -> int { throw DetailedError(1); })
                          .then([](int value) { return value; })
                          .then([](int value) { return value; }));
  });
  EXPECT_EQ(log.take().size(), 1U);
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_adopted_then_only_the_adopting_promise_is_reported) {
  static_cast<void>(
      scheduler.post_task([] { return Promise<int>::rejected(Reason(DetailedError(1))); }));
  loop.run_until_idle();
  EXPECT_EQ(log.take().size(), 1U);
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_by_abort_then_not_reported) {
  AbortController controller;
  static_cast<void>(scheduler.post_task([] {}, {.signal = controller.signal()}));
  controller.abort();
  loop.run_until_idle();
  EXPECT_TRUE(log.take().empty());
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_the_signal_was_aborted_before_the_post_then_not_reported) {
  AbortController controller;
  controller.abort();
  static_cast<void>(scheduler.post_task([] {}, {.signal = controller.signal()}));
  loop.run_until_idle();
  EXPECT_TRUE(log.take().empty());
}

// Rule: PRO-3
TEST_F(Pro3, rejection_when_an_abort_passes_through_reactions_and_adoption_then_not_reported) {
  AbortController controller;
  run_task([&] {
    static_cast<void>(scheduler.post_task(
        [&] { return scheduler.post_task([] {}, {.signal = controller.signal()}).then([] {}); }));
  });
  controller.abort();
  loop.run_until_idle();
  EXPECT_TRUE(log.take().empty());
}

// Rule: PRO-3 (only exceptions are reported)
TEST_F(Pro3, rejection_when_by_a_plain_value_then_not_reported) {
  static_cast<void>(Promise<int>::rejected(Reason("no")));
  EXPECT_TRUE(log.take().empty());
}

// Rule: PRO-3
TEST_F(Pro3, fulfilment_when_nobody_observed_it_then_not_reported) {
  static_cast<void>(scheduler.post_task([] { return 1; }));
  loop.run_until_idle();
  EXPECT_TRUE(log.take().empty());
}

}  // namespace
}  // namespace heist
