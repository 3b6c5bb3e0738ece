// Rule: PRO-2, ABT-3: what is caught and thrown on is the same reason, as JavaScript's `catch (e) {
//         throw e }`.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>

#include "api/probes.hpp"

namespace heist {
namespace {

class Pro2Identity : public test::LoopTest {
 protected:
  Promise<int> failed = Promise<int>::rejected(Reason(std::runtime_error("no")));
};

Promise<int> await(Promise<int> promise) { co_return co_await promise; }

TEST_F(Pro2Identity, coroutine_when_it_awaits_a_rejection_then_rejects_with_the_same_reason) {
  const auto outer = scheduler.post_task([this] { return await(failed); });
  loop.run_until_idle();
  EXPECT_EQ(outer.reason(), failed.reason());
}

TEST_F(Pro2Identity, coroutine_when_awaits_pass_it_on_then_still_the_same_reason) {
  const auto outer = scheduler.post_task([this] { return await(await(await(failed))); });
  loop.run_until_idle();
  EXPECT_EQ(outer.reason(), failed.reason());
}

TEST_F(Pro2Identity, task_when_it_gets_a_rejection_then_rejects_with_the_same_reason) {
  const auto outer = scheduler.post_task([this] { return failed.get(); });
  loop.run_until_idle();
  EXPECT_EQ(outer.reason(), failed.reason());
}

TEST_F(Pro2Identity, task_when_its_signal_throws_then_rejects_with_the_signals_reason) {
  AbortController controller;
  const auto task =
      scheduler.post_task([signal = controller.signal()] { signal.throw_if_aborted(); });
  AbortController other;
  other.abort();
  const auto thrown = scheduler.post_task([signal = other.signal()] { signal.throw_if_aborted(); });
  loop.run_until_idle();
  EXPECT_EQ(task.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(thrown.reason(), other.signal().reason());
}

TEST_F(Pro2Identity, task_when_it_throws_another_exception_then_another_reason) {
  const auto outer = scheduler.post_task([this] {
    try {
      failed.get();
    } catch (const std::runtime_error&) {
      throw std::logic_error("another");
    }
  });
  loop.run_until_idle();
  EXPECT_NE(outer.reason(), failed.reason());
  EXPECT_EQ(outer.reason().what(), "another");
}

struct Carried : std::runtime_error {
  explicit Carried(std::shared_ptr<int> what)
      : std::runtime_error("carried"), life(std::move(what)) {}
  std::shared_ptr<int> life;
};

// Rule: ABT-5: nothing of it is kept.
TEST_F(Pro2Identity, exception_when_caught_in_a_task_then_gone_with_its_last_handle) {
  const auto life = std::make_shared<int>(1);
  failed = Promise<int>::rejected(Reason(Carried(life)));
  scheduler.post([this] { EXPECT_THROW(failed.get(), Carried); });
  loop.run_until_idle();
  EXPECT_GT(life.use_count(), 1);
  failed = Promise<int>::resolved(1);
  EXPECT_EQ(life.use_count(), 1);
}

}  // namespace
}  // namespace heist
