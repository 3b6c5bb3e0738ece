// Rule: DLY-1, DLY-3, LIF-1: sleep_for.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <utility>

#include "combinators/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class SleepFor : public test::CombinatorTest {};

TEST_F(SleepFor, sleep_when_the_delay_is_over_then_fulfilled_and_not_before) {
  const auto slept = made_here([] { return sleep_for(5ms); });
  loop.advance(4ms);
  EXPECT_FALSE(slept.settled());
  loop.advance(1ms);
  EXPECT_EQ(slept.status(), PromiseStatus::fulfilled);
}

TEST_F(SleepFor, sleep_when_awaited_then_the_coroutine_goes_on) {
  const auto body = [this]() -> Promise<void> {
    co_await sleep_for(5ms);
    trace.add("awake");
  };
  const auto task = scheduler.post_task(body);
  loop.advance(4ms);
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("awake"));
}

TEST_F(SleepFor, signal_when_it_aborts_then_the_sleep_rejects_with_its_reason) {
  AbortController controller;
  const auto slept = made_here([&] { return sleep_for(Delay::never(), controller.signal()); });
  controller.abort(std::string("wake up"));
  EXPECT_EQ(slept.reason(), controller.signal().reason());
  const auto late = made_here([&] { return sleep_for(5ms, controller.signal()); });
  EXPECT_EQ(late.reason(), controller.signal().reason());
}

TEST_F(SleepFor, signal_when_it_has_a_priority_then_the_sleep_ends_by_that) {
  const TaskController controller(support::user_blocking);
  auto slept = made_here([&] { return sleep_for(5ms, controller.signal()).then(note("slept")); });
  post("posted", {.delay = 5ms});
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("slept", "posted"));
}

TEST_F(SleepFor, call_when_off_an_agent_then_needs_a_scheduler) {
  EXPECT_THROW(static_cast<void>(sleep_for(1ms)), NotAllowedError);
  const auto slept = sleep_for(scheduler, 1ms);
  loop.advance(1ms);
  EXPECT_EQ(slept.status(), PromiseStatus::fulfilled);
}

TEST_F(SleepFor, call_when_in_a_scheduler_s_task_then_of_that_scheduler) {
  const Scheduler second = loop.create_scheduler();
  std::optional<Promise<void>> slept;
  second.post([&] { slept = sleep_for(scheduler, 1ms).then([] {}); });
  loop.advance(1ms);
  EXPECT_EQ(slept->status(), PromiseStatus::fulfilled);
}

TEST_F(SleepFor, loop_when_it_closes_then_the_sleep_rejects_with_an_abort) {
  EventLoop other({.clock = LoopClock::virtual_time});
  const auto slept = sleep_for(other.scheduler(), 1h);
  other.close(CloseMode::drain());
  EXPECT_THROW(slept.get(), AbortError);
  const auto late = sleep_for(other.scheduler(), 1h);
  EXPECT_THROW(late.get(), InvalidStateError);
}

}  // namespace
}  // namespace heist
