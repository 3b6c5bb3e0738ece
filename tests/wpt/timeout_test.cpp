// AbortSignal::timeout, and signals that are born aborted.
#include <heist/agent.hpp>
#include <heist/task_signal.hpp>
#include <heist/timeout.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WptTimeout : public VirtualLoopFixture {
 protected:
  [[nodiscard]] AbortSignal timeout(Delay delay) const {
    return AbortSignal::timeout(scheduler, delay);
  }
  Subscription note_abort(const AbortSignal& signal, std::string label) {
    return signal.on_abort(note(std::move(label)));
  }
};

TEST_F(WptTimeout, WPT_TMO_01_timeout_when_zero_then_aborts_on_a_later_turn) {
  in_task([this] {
    const auto signal = AbortSignal::timeout(Delay(0ms));
    EXPECT_FALSE(signal.aborted());
    queue_microtask([this, signal] { trace.add(signal.aborted() ? "too early" : "not yet"); });
    scheduler.post([this, signal] { trace.add(signal.aborted() ? "aborted" : "too late"); },
                   {.priority = background});
  });
  EXPECT_THAT(run(), ElementsAre("not yet", "aborted"));
}

TEST_F(WptTimeout, WPT_TMO_02_timeout_when_over_then_aborts_with_timeout_error) {
  const auto signal = timeout(Delay(10ms));
  loop.advance(9ms);
  EXPECT_FALSE(signal.aborted());
  loop.advance(1ms);
  EXPECT_TRUE(signal.aborted());
  EXPECT_THROW(signal.throw_if_aborted(), TimeoutError);
}

TEST_F(WptTimeout, WPT_TMO_03_timeouts_when_they_end_together_then_in_order_of_creation) {
  std::vector<Subscription> subscriptions;
  const auto add = [&](Delay delay, std::string label) {
    subscriptions.push_back(note_abort(timeout(delay), std::move(label)));
  };
  add(Delay(1000ms), "1");
  add(Delay(1000ms), "2");
  loop.advance(700ms);
  add(Delay(300ms), "3");
  loop.advance(299ms);
  add(Delay(1ms), "4");
  add(Delay(1ms), "5");
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("1", "2", "3", "4", "5"));
}

TEST_F(WptTimeout, WPT_TMO_04_timeout_when_its_loop_is_gone_then_never_aborts) {
  std::optional<AbortSignal> signal;
  Subscription subscription;
  {
    EventLoop short_lived({.clock = LoopClock::virtual_time});
    signal = AbortSignal::timeout(short_lived.scheduler(), Delay(10ms));
    subscription = note_abort(*signal, "abort");
  }
  EXPECT_FALSE(signal->aborted());
  subscription.reset();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptTimeout, WPT_TMO_05_timeout_when_its_last_listener_is_removed_then_still_aborts) {
  const auto signal = timeout(Delay(10ms));
  auto removed = note_abort(signal, "removed");
  removed.reset();
  loop.advance(10ms);
  EXPECT_TRUE(signal.aborted());
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptTimeout, WPT_TMO_06_listeners_when_added_after_others_went_then_hear_the_abort) {
  const auto signal = timeout(Delay(10ms));
  for (int i = 0; i < 100; ++i) static_cast<void>(note_abort(signal, "removed"));
  loop.advance(5ms);
  const auto composite = AbortSignal::any({signal});
  const auto own = note_abort(signal, "own");
  const auto of_composite = note_abort(composite, "composite");
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("own", "composite"));
  EXPECT_EQ(composite.reason(), signal.reason());
  EXPECT_THROW(composite.throw_if_aborted(), TimeoutError);
}

// docs/policies.md: a timeout that is waited for ends the wait.
TEST_F(WptTimeout, WPT_TMO_07_wait_when_only_a_timeout_is_left_then_it_ends) {
  const Agent agent;
  const auto never = agent.scheduler().post_task(
      [] {},
      {.signal = AbortSignal::timeout(agent.scheduler(), Delay(1ms)), .delay = Delay::never()});
  EXPECT_THROW(never.get(), TimeoutError);
}

// Contract DLY-6: the timeouts of signals come before the others; each kind keeps its own order.
TEST_F(WptTimeout, WPT_TMO_08_timeouts_when_among_timers_then_before_them_each_in_order) {
  std::vector<Subscription> subscriptions;
  in_task([&] {
    static_cast<void>(set_timeout(note("timer 1"), Delay(5ms)));
    subscriptions.push_back(note_abort(AbortSignal::timeout(Delay(5ms)), "timeout 1"));
    static_cast<void>(set_timeout(note("timer 2"), Delay(5ms)));
    subscriptions.push_back(note_abort(AbortSignal::timeout(Delay(5ms)), "timeout 2"));
  });
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("timeout 1", "timeout 2", "timer 1", "timer 2"));
}

// docs/policies.md: the agent of the scheduler aborts it.
TEST_F(WptTimeout, WPT_TMO_09_timeout_when_over_then_its_agent_aborts_it) {
  const Agent agent;
  const auto home = agent.scheduler().post_task([] { return std::this_thread::get_id(); }).get();
  Gate aborted;
  std::thread::id aborted_on;
  const auto subscription = AbortSignal::timeout(agent.scheduler(), Delay(1ms)).on_abort([&] {
    aborted_on = std::this_thread::get_id();
    aborted.open();
  });
  aborted.wait();
  EXPECT_EQ(aborted_on, home);
}

class WptBornAborted : public WptTimeout {};

TEST_F(WptBornAborted, WPT_SIG_11_abort_when_without_a_reason_then_aborted_with_abort_error) {
  const auto signal = AbortSignal::abort();
  EXPECT_TRUE(signal.aborted());
  EXPECT_THROW(signal.throw_if_aborted(), AbortError);
}

TEST_F(WptBornAborted, WPT_SIG_12_abort_when_given_a_reason_then_aborted_with_it) {
  const Reason reason(std::string("why"));
  EXPECT_EQ(AbortSignal::abort(reason).reason(), reason);
  const auto signal = AbortSignal::abort("text");
  ASSERT_NE(signal.reason().value<std::string>(), nullptr);
  EXPECT_EQ(*signal.reason().value<std::string>(), "text");
}

TEST_F(WptBornAborted, WPT_SIG_13_signal_when_born_aborted_then_never_has_an_event) {
  const auto signal = AbortSignal::abort();
  const auto subscription = note_abort(signal, "abort");
  loop.advance(2000ms);
  EXPECT_FALSE(subscription.active());
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptBornAborted, WPT_SIG_17_reason_when_asked_for_twice_then_the_same) {
  const auto signal = AbortSignal::abort();
  EXPECT_EQ(signal.reason(), signal.reason());
  EXPECT_EQ(signal.reason().exception(), signal.reason().exception());
}

}  // namespace
}  // namespace heist::support
