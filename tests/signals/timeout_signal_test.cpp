// Rule: DLY-2, LIF-2; FORMAT.md 3.3. AbortSignal::timeout, and signals that are born aborted.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TimeoutSignals : public VirtualLoopFixture {
 protected:
  Subscription note_abort(const AbortSignal& signal, std::string label) {
    return signal.on_abort(note(std::move(label)));
  }
};

TEST_F(TimeoutSignals, WPT_TMO_01_timeout_when_zero_then_aborts_on_a_later_turn) {
  in_task([this] {
    const auto signal = AbortSignal::timeout(Delay(0ms));
    EXPECT_FALSE(signal.aborted());
    queue_microtask([this, signal] { trace.add(signal.aborted() ? "too early" : "not yet"); });
    scheduler.post([this, signal] { trace.add(signal.aborted() ? "aborted" : "too late"); },
                   {.priority = background});
  });
  EXPECT_THAT(run(), ElementsAre("not yet", "aborted"));
}

TEST_F(TimeoutSignals, WPT_TMO_02_timeout_when_over_then_aborts_with_timeout_error) {
  const auto signal = AbortSignal::timeout(scheduler, 5ms);
  auto result = post_task("late", {.signal = signal, .delay = 1h});
  loop.advance(4ms);
  EXPECT_FALSE(signal.aborted());
  loop.advance(1ms);
  EXPECT_THROW(signal.throw_if_aborted(), TimeoutError);
  EXPECT_THROW(std::move(result).get(), TimeoutError);
  EXPECT_EQ(loop.stats().source_tasks_run[static_cast<std::size_t>(TaskSource::timer)], 1U);
}

TEST_F(TimeoutSignals, WPT_TMO_03_timeouts_when_they_end_together_then_in_order_of_creation) {
  std::vector<Subscription> subscriptions;
  const auto add = [&](Delay delay, std::string label) {
    subscriptions.push_back(note_abort(AbortSignal::timeout(scheduler, delay), std::move(label)));
  };
  add(1000ms, "1");
  add(1000ms, "2");
  loop.advance(700ms);
  add(300ms, "3");
  loop.advance(299ms);
  add(1ms, "4");
  add(1ms, "5");
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("1", "2", "3", "4", "5"));
}

TEST_F(TimeoutSignals, WPT_TMO_05_WPT_TMO_06_timeout_when_listeners_come_and_go_then_aborts_still) {
  const auto unheard = AbortSignal::timeout(scheduler, 10ms);
  const auto signal = AbortSignal::timeout(scheduler, 10ms);
  note_abort(unheard, "removed").reset();
  for (int i = 0; i < 100; ++i) static_cast<void>(note_abort(signal, "removed"));
  loop.advance(5ms);
  const auto composite = AbortSignal::any({signal});
  const auto own = note_abort(signal, "own");
  const auto of_composite = note_abort(composite, "composite");
  loop.advance(5ms);
  EXPECT_TRUE(unheard.aborted());
  EXPECT_THAT(trace.take(), ElementsAre("own", "composite"));
  EXPECT_EQ(composite.reason(), signal.reason());
  EXPECT_THROW(composite.throw_if_aborted(), TimeoutError);
}

// docs/policies.md: a timeout that is waited for ends the wait.
TEST_F(TimeoutSignals, WPT_TMO_07_wait_when_only_a_timeout_is_left_then_it_ends) {
  const Agent agent;
  const auto never = agent.scheduler().post_task(
      [] {}, {.signal = AbortSignal::timeout(agent.scheduler(), 1ms), .delay = Delay::never()});
  EXPECT_THROW(never.get(), TimeoutError);
}

// Rule: DLY-6: the timeouts of signals come before the others; each kind keeps its own order.
TEST_F(TimeoutSignals, WPT_TMO_08_timeouts_when_among_timers_then_before_them_each_in_order) {
  std::vector<Subscription> subscriptions;
  in_task([&] {
    for (const char* number : {" 1", " 2"}) {
      static_cast<void>(set_timeout(note(std::string("timer") + number), 5ms));
      subscriptions.push_back(
          note_abort(AbortSignal::timeout(5ms), std::string("timeout") + number));
    }
  });
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("timeout 1", "timeout 2", "timer 1", "timer 2"));
}

// docs/policies.md: the agent of the scheduler aborts it.
TEST_F(TimeoutSignals, WPT_TMO_09_timeout_when_over_then_its_agent_aborts_it) {
  const Agent agent;
  const auto home = agent.scheduler().post_task([] { return std::this_thread::get_id(); }).get();
  Gate aborted;
  std::thread::id aborted_on;
  const auto subscription = AbortSignal::timeout(agent.scheduler(), 1ms).on_abort([&] {
    aborted_on = std::this_thread::get_id();
    aborted.open();
  });
  aborted.wait();
  EXPECT_EQ(aborted_on, home);
}

TEST_F(TimeoutSignals, timeout_when_listeners_queue_microtasks_then_a_checkpoint_follows_each) {
  const auto signal = AbortSignal::timeout(scheduler, 5ms);
  const auto dependent = AbortSignal::any({signal});
  const auto listen = [this](const AbortSignal& to, std::string label) {
    return to.on_abort([this, label] {
      trace.add(label);
      queue_microtask([this, label] { trace.add("microtask of " + label); });
    });
  };
  const auto first = listen(signal, "first");
  const auto second = listen(signal, "second");
  const auto third = listen(dependent, "third");
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("first", "microtask of first", "second",
                                        "microtask of second", "third", "microtask of third"));
}

TEST_F(TimeoutSignals, timeout_when_nobody_observes_it_then_its_timer_goes) {
  std::optional<AbortSignal> signal = AbortSignal::timeout(scheduler, 1h);
  EXPECT_EQ(loop.pending(), 1U);
  std::optional<AbortSignal> dependent = AbortSignal::any({*signal});
  signal.reset();
  EXPECT_EQ(loop.pending(), 1U);
  dependent.reset();
  EXPECT_EQ(loop.pending(), 0U);
  in_task([&] {
    signal = AbortSignal::timeout(1h);
    signal.reset();
  });
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(TimeoutSignals, timeout_when_a_listener_drops_the_last_handle_then_all_is_well) {
  std::optional<AbortSignal> signal = AbortSignal::timeout(scheduler, 1ms);
  auto subscription = signal->on_abort([&] { trace.add("aborted"); });
  const auto dropping = signal->on_abort([&] {
    signal.reset();
    subscription.reset();
  });
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("aborted"));
}

TEST_F(TimeoutSignals, WPT_TMO_04_timeout_when_its_loop_is_gone_then_never_aborts) {
  std::optional<EventLoop> other(EventLoopOptions{.clock = LoopClock::virtual_time});
  const auto armed = AbortSignal::timeout(other->scheduler(), 1ms);
  const auto subscription = note_abort(armed, "abort");
  const Scheduler closed = other->scheduler();
  other.reset();
  const auto refused = AbortSignal::timeout(closed, 0ms);
  EXPECT_FALSE(armed.aborted());
  EXPECT_FALSE(refused.aborted());
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(TimeoutSignals, timeout_when_off_a_loop_then_refused) {
  EXPECT_THROW(static_cast<void>(AbortSignal::timeout(1ms)), NotAllowedError);
}

// Signals that are born aborted.

using BornAborted = TimeoutSignals;

TEST_F(BornAborted, WPT_SIG_11_WPT_SIG_12_abort_when_static_then_aborted_with_the_given_reason) {
  EXPECT_TRUE(AbortSignal::abort().aborted());
  EXPECT_THROW(AbortSignal::abort().throw_if_aborted(), AbortError);
  EXPECT_EQ(*AbortSignal::abort(7).reason().value<int>(), 7);
  EXPECT_EQ(*AbortSignal::abort("text").reason().value<std::string>(), "text");
  const Reason reason(std::string("why"));
  EXPECT_EQ(AbortSignal::abort(reason).reason(), reason);
}

TEST_F(BornAborted, WPT_SIG_13_WPT_SIG_17_signal_when_born_aborted_then_no_event_and_one_reason) {
  const auto signal = AbortSignal::abort();
  const auto subscription = note_abort(signal, "abort");
  loop.advance(2000ms);
  EXPECT_FALSE(subscription.active());
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_EQ(signal.reason(), signal.reason());
  EXPECT_EQ(signal.reason().exception(), signal.reason().exception());
}

}  // namespace
}  // namespace heist::support
