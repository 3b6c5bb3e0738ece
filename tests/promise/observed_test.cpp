// Rule: PRO-3: what counts as having observed a rejection (docs/policies.md).
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::ErrorLog;

Reason failure() { return Reason(std::range_error("nobody looked")); }

class Pro3Observed : public test::LoopTest {
 protected:
  ErrorLog log;
  std::optional<PromiseWithResolver<int>> source = Promise<int>::with_resolver();
};

// Rule: PRO-3 (that these rejections are reported otherwise)
TEST_F(Pro3Observed, rejection_when_nothing_was_attached_then_reported) {
  source->resolver.reject(failure());
  source.reset();
  EXPECT_EQ(ErrorLog::take().size(), 1U);
}

// Rule: PRO-3, LIF-1. Attaching counts, though the reaction never runs.
TEST_F(Pro3Observed, rejection_when_its_only_reaction_was_dropped_with_its_loop_then_not_reported) {
  {
    EventLoop closed(test::on_virtual_clock());
    const Scheduler target = closed.scheduler();
    static_cast<void>(source->promise.then(target, [](int value) { return value; }));
  }
  source->resolver.reject(failure());
  source.reset();
  EXPECT_TRUE(ErrorLog::take().empty());
}

Promise<void> follow(Promise<int> source) {
  const int value = co_await source;
  static_cast<void>(value);
}

// Rule: PRO-3, LIF-1
TEST_F(Pro3Observed, rejection_when_only_a_destroyed_coroutine_awaited_it_then_not_reported) {
  {
    EventLoop closed(test::on_virtual_clock());
    closed.scheduler().post([this] { static_cast<void>(follow(source->promise)); });
    closed.run_until_idle();
  }
  source->resolver.reject(failure());
  source.reset();
  EXPECT_TRUE(ErrorLog::take().empty());
}

// Rule: PRO-3. What lets an abort through is aborted itself.
TEST_F(Pro3Observed, rejection_when_a_task_or_reaction_let_an_abort_through_then_not_reported) {
  AbortController controller;
  controller.abort();
  const auto signal = controller.signal();
  static_cast<void>(scheduler.post_task([signal] { signal.throw_if_aborted(); }));
  scheduler.post([signal] {
    static_cast<void>(Promise<int>::resolved(1).then([signal](int) { signal.throw_if_aborted(); }));
  });
  loop.run_until_idle();
  EXPECT_TRUE(ErrorLog::take().empty());
}

Promise<void> throw_aborted() {
  throw Aborted(Reason(std::range_error("why")));
  co_return;
}

// Rule: PRO-3. Also when what was aborted was so by an exception.
TEST_F(Pro3Observed, rejection_when_aborted_carries_an_exception_then_not_reported) {
  scheduler.post([] { static_cast<void>(throw_aborted()); });
  static_cast<void>(scheduler.post_task([] { throw Aborted(Reason(std::range_error("why"))); }));
  loop.run_until_idle();
  EXPECT_TRUE(ErrorLog::take().empty());
}

// Rule: PRO-3. Looking without asking for the reason is not observing.
TEST_F(Pro3Observed, rejection_when_only_its_status_was_asked_for_then_reported) {
  source->resolver.reject(failure());
  EXPECT_EQ(source->promise.status(), PromiseStatus::rejected);
  EXPECT_TRUE(source->promise.settled());
  source.reset();
  EXPECT_EQ(ErrorLog::take().size(), 1U);
}

}  // namespace
}  // namespace heist
