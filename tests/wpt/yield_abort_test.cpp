// How a yield ends when the task that yields is aborted.
#include "wpt/yield_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using testing::ElementsAre;

class YieldAbort : public YieldFixture {
 protected:
  /// Notes how the yield ends.
  Promise<void> follow(Promise<void> turn) {
    try {
      co_await turn;
      trace.add("went on");
    } catch (const AbortError&) {
      trace.add("AbortError");
      throw;
    }
  }
  Promise<void> abort_then_yield() {
    controller.abort();
    const Promise<void> turn = heist::yield();
    EXPECT_EQ(turn.status(), PromiseStatus::rejected);
    return follow(turn);
  }
  Promise<void> yield_then_abort() {
    const Promise<void> turn = heist::yield();
    controller.abort();
    return follow(turn);
  }
  /// A task of a higher level aborts while the yield waits.
  Promise<void> yield_and_be_aborted(AbortController& by) {
    scheduler.post([&by] { by.abort(); }, {.priority = user_blocking});
    post("visible");
    return follow(heist::yield());
  }
  /// Whether the abort reaches a yield after this hop.
  void expect_abort_after(Hop hop) {
    const auto task = [this, hop] { return hop([this] { return yield_then_abort(); }); };
    auto result = scheduler.post_task(task, {.signal = controller.signal()});
    EXPECT_THAT(run(), ElementsAre("AbortError"));
    EXPECT_THROW(std::move(result).get(), AbortError);
  }

  TaskController controller;
};

TEST_F(YieldAbort, WPT_Y_A1_yield_when_its_signal_is_aborted_then_it_and_the_task_reject) {
  auto result =
      scheduler.post_task([this] { return abort_then_yield(); }, {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre("AbortError"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(YieldAbort, WPT_Y_A2_yield_when_a_task_controller_aborts_it_then_rejects_without_its_turn) {
  controller.set_priority(background);
  auto result = scheduler.post_task([this] { return yield_and_be_aborted(controller); },
                                    {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre("AbortError", "visible"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(YieldAbort, WPT_Y_A3_yield_when_an_abort_controller_aborts_it_then_rejects) {
  AbortController plain;
  auto result = scheduler.post_task([&] { return yield_and_be_aborted(plain); },
                                    {.signal = plain.signal(), .priority = background});
  EXPECT_THAT(run(), ElementsAre("AbortError", "visible"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(YieldAbort, WPT_Y_A4_WPT_Y_I5_yield_when_behind_timers_and_threads_then_still_aborted) {
  const auto task = [this] { return far([this] { return yield_then_abort(); }); };
  auto result = scheduler.post_task(task, {.signal = controller.signal()});
  EXPECT_THAT(run_far(), ElementsAre("AbortError"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(YieldAbort, WPT_Y_A5_yield_when_directly_in_the_task_then_aborted) {
  expect_abort_after(directly);
}

TEST_F(YieldAbort, WPT_Y_A6_yield_when_after_a_pending_promise_then_aborted) {
  expect_abort_after(after_a_pending_promise);
}

TEST_F(YieldAbort, WPT_Y_A7_yield_when_after_a_settled_promise_then_aborted) {
  expect_abort_after(after_a_settled_promise);
}

TEST_F(YieldAbort, WPT_Y_A8_yield_when_after_a_plain_value_then_aborted) {
  expect_abort_after(after_a_plain_value);
}

TEST_F(YieldAbort, WPT_Y_A9_yield_when_in_then_of_a_settled_promise_then_aborted) {
  expect_abort_after(in_then_of_a_settled_promise);
}

TEST_F(YieldAbort, WPT_Y_A10_yield_when_in_a_chain_of_then_then_aborted) {
  expect_abort_after(in_then_of_a_chain);
}

TEST_F(YieldAbort, WPT_Y_A11_yield_when_after_an_awaitable_of_ones_own_then_aborted) {
  expect_abort_after(after_a_thenable);
}

TEST_F(YieldAbort, WPT_Y_A12_yield_when_within_an_awaitable_of_ones_own_then_aborted) {
  expect_abort_after(within_a_thenable);
}

}  // namespace
}  // namespace heist::support
