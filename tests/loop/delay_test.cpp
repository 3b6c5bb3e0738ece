// Delays: when a delayed task becomes runnable, and where it then stands in line.
#include <heist/delay.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <heist/error.hpp>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "heist/loop/loop_core.hpp"
#include "support/posted_from.hpp"
#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::ElementsAreArray;

using Years = std::chrono::years;

// Rule: DLY-3
TEST(Dly3Type, WPT_DLY_03_delay_when_zero_or_negative_then_zero) {
  static_assert(Delay().is_zero());
  static_assert(Delay(0ms).is_zero());
  static_assert(Delay(-1ns).is_zero());
  static_assert(Delay(-5h).is_zero());
  static_assert(Delay(nanoseconds::min()).is_zero());
  static_assert(Delay(std::chrono::hours::min()).is_zero());
  static_assert(Delay(std::chrono::duration<double>(-0.5)).is_zero());
  EXPECT_FALSE(Delay(-1ns).is_never());
}

// Rule: DLY-3
TEST(Dly3Type, WPT_DLY_03_delay_when_not_a_number_then_zero) {
  EXPECT_TRUE(Delay(std::chrono::duration<double>(std::nan(""))).is_zero());
  EXPECT_TRUE(Delay(std::chrono::duration<float, std::milli>(-std::nanf(""))).is_zero());
}

// Rule: DLY-3
TEST(Dly3Type, WPT_DLY_03_delay_when_beyond_the_clocks_range_then_never) {
  static_assert(Delay::never().is_never());
  static_assert(Delay(nanoseconds::max()).is_never());
  static_assert(Delay(std::chrono::hours::max()).is_never());
  static_assert(Delay(Years(300)).is_never());
  EXPECT_TRUE(
      Delay(std::chrono::duration<double>(std::numeric_limits<double>::infinity())).is_never());
  EXPECT_TRUE(Delay(std::chrono::duration<double>(1e300)).is_never());
  EXPECT_FALSE(Delay::never().is_zero());
}

// Rule: DLY-3
TEST(Dly3Type, delay_when_within_the_range_then_the_duration) {
  static_assert(Delay(1ns).value() == 1ns);
  static_assert(Delay(90ms).value() == 90ms);
  static_assert(Delay(Years(100)).value() == Years(100));
  static_assert(!Delay(Years(100)).is_never());
}

// Rule: DLY-1
TEST(Dly1Type, delay_when_finer_than_a_nanosecond_then_rounded_up) {
  using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  static_assert(Delay(Picoseconds(1)).value() == 1ns);
  static_assert(Delay(Picoseconds(1000)).value() == 1ns);
  static_assert(Delay(Picoseconds(1001)).value() == 2ns);
  EXPECT_EQ(Delay(std::chrono::duration<double, std::nano>(1.25)).value(), 2ns);
}

class Dly1 : public VirtualLoopFixture {};

// Rule: DLY-1
TEST_F(Dly1, WPT_DLY_01_task_when_its_delay_is_not_over_then_does_not_run) {
  post("task", {.delay = 10ms});
  loop.advance(10ms - 1ns);
  EXPECT_THAT(trace.take(), ElementsAre());
  loop.advance(1ns);
  EXPECT_THAT(trace.take(), ElementsAre("task"));
}

// Rule: DLY-1
TEST_F(Dly1, task_when_posted_within_a_tick_then_its_expiry_is_rounded_up_to_the_next) {
  loop.advance(300us);
  post("task", {.delay = 1ms});
  loop.advance(2ms - 300us - 1ns);
  EXPECT_THAT(trace.take(), ElementsAre());
  loop.advance(1ns);
  EXPECT_THAT(trace.take(), ElementsAre("task"));
}

// Rule: DLY-1
TEST_F(Dly1, delay_when_the_agent_looks_late_then_it_was_counted_from_the_call) {
  post("task", {.delay = 10ms});
  loop.spend(7ms);
  loop.run_until_idle();
  loop.advance(3ms - 1ns);
  EXPECT_THAT(trace.take(), ElementsAre());
  loop.advance(1ns);
  EXPECT_THAT(trace.take(), ElementsAre("task"));
}

// Rule: DLY-1
TEST_F(Dly1, advance_when_several_delays_end_on_the_way_then_each_task_sees_its_own_time) {
  std::vector<nanoseconds> times;
  for (const auto delay : {30ms, 10ms, 20ms}) {
    scheduler.post([&] { times.push_back(loop.now()); }, {.delay = delay});
  }
  loop.advance(1h);
  EXPECT_THAT(times, ElementsAre(10ms, 20ms, 30ms));
  EXPECT_EQ(loop.now(), nanoseconds(1h));
}

// Rule: DLY-1
TEST_F(Dly1, advance_when_a_task_arms_itself_again_then_it_runs_at_every_interval) {
  std::vector<nanoseconds> times;
  const std::function<void()> tick = [&] {
    times.push_back(loop.now());
    scheduler.post(tick, {.delay = 20ms});
  };
  scheduler.post(tick);
  loop.advance(60ms);
  EXPECT_THAT(times, ElementsAre(0ms, 20ms, 40ms, 60ms));
  loop.close(CloseMode::abort());
}

// Rule: DLY-1
TEST_F(Dly1, advance_when_within_a_task_then_not_allowed) {
  loop.needs_driver();
  in_task([&] { EXPECT_THROW(loop.advance(1ms), NotAllowedError); });
}

// Rule: DLY-1
TEST_F(Dly1, advance_when_the_clock_is_steady_then_not_allowed) {
  EventLoop steady;
  EXPECT_THROW(steady.advance(1ms), NotAllowedError);
}

// Rule: DLY-1
TEST_F(Dly1, advance_when_negative_then_refused_and_time_stands) {
  loop.advance(5ms);
  EXPECT_THROW(loop.advance(-1ns), std::invalid_argument);
  EXPECT_EQ(loop.now(), nanoseconds(5ms));
}

// Rule: DLY-1, DLY-3
TEST_F(Dly1, advance_when_beyond_the_clocks_range_then_to_its_end) {
  post("task", {.delay = Years(100)});
  loop.advance(5ms);
  loop.advance(nanoseconds::max());
  EXPECT_EQ(loop.now(), nanoseconds::max());
  EXPECT_THAT(trace.take(), ElementsAre("task"));
}

// Rule: DLY-1
TEST(Dly1Options, event_loop_when_the_tick_is_out_of_range_then_refused) {
  for (const nanoseconds tick : {nanoseconds(0), nanoseconds(-1), nanoseconds::max()}) {
    EXPECT_THROW(EventLoop({.tick = tick}), std::invalid_argument);
  }
}

/// The parameter is the tick of the loop.
class Dly1Ticks : public testing::TestWithParam<nanoseconds> {
 protected:
  EventLoop loop{{.clock = LoopClock::virtual_time, .tick = GetParam()}};
  Scheduler scheduler = loop.scheduler();
};
INSTANTIATE_TEST_SUITE_P(Ticks, Dly1Ticks,
                         testing::Values(nanoseconds(1ns), nanoseconds(7ns), nanoseconds(1us),
                                         nanoseconds(1ms), nanoseconds(10ms), nanoseconds(1h)));

// Rule: DLY-1
TEST_P(Dly1Ticks, tasks_when_delays_are_random_then_never_early_and_late_by_less_than_a_tick) {
  std::mt19937_64 random(99);  // NOLINT(bugprone-random-generator-seed): repeatable
  const auto any_up_to = [&](nanoseconds limit) {
    return nanoseconds(
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit.count() + 1)));
  };
  int ran = 0;
  for (int i = 0; i < 300; ++i) {
    const nanoseconds delay = any_up_to(GetParam() * (1 << (random() % 16))) + 1ns;
    const nanoseconds due = loop.now() + delay;
    scheduler.post(
        [&, due] {
          ++ran;
          EXPECT_GE(loop.now(), due);
          EXPECT_LT(loop.now(), due + GetParam());
        },
        {.delay = delay});
    loop.advance(any_up_to(GetParam() * 3));
  }
  loop.advance(GetParam() * (1 << 17));
  EXPECT_EQ(ran, 300);
}

class Dly2From : public PostedFrom {};
INSTANTIATE_TEST_SUITE_P(Origins, Dly2From, every_origin, origin_name);

// Rule: DLY-2
TEST_P(Dly2From, tasks_when_their_delays_are_equal_then_run_in_order_of_posting) {
  std::vector<std::string> labels;
  from_origin([&] {
    for (int i = 0; i < 200; ++i) {
      labels.push_back(std::to_string(i));
      post(labels.back(), {.delay = 70ms});
    }
  });
  loop.advance(70ms);
  EXPECT_THAT(trace.take(), ElementsAreArray(labels));
}

// Rule: DLY-2
TEST_P(Dly2From, tasks_when_posted_at_different_times_for_one_tick_then_run_in_order_of_posting) {
  const std::vector<nanoseconds> delays{100'000ms, 4096ms, 4095ms, 64ms, 63ms, 2ms, 1ms};
  std::vector<std::string> labels;
  loop.advance(3ms);
  const nanoseconds end = loop.now() + delays[0];
  for (const auto delay : delays) {
    loop.advance(end - delay - loop.now());
    labels.push_back(std::to_string(delay.count()));
    from_origin([&] { post(labels.back(), {.delay = delay}); });
  }
  loop.advance(end - loop.now());
  EXPECT_THAT(trace.take(), ElementsAreArray(labels));
}

class Dly2 : public VirtualLoopFixture {};

// Rule: DLY-2
TEST_F(Dly2, tasks_when_threads_take_turns_with_equal_delays_then_run_in_order_of_turns) {
  Worker a;
  Worker b;
  for (const auto* label : {"1", "3", "5"}) {
    a.run([&] { post(label, {.delay = 20ms}); });
    b.run([&] { post(std::to_string(std::stoi(label) + 1), {.delay = 20ms}); });
  }
  loop.advance(20ms);
  EXPECT_THAT(trace.take(), ElementsAre("1", "2", "3", "4", "5", "6"));
}

// Rule: DLY-2
TEST_F(Dly2, tasks_when_a_later_post_has_the_longer_delay_then_the_earlier_runs_first) {
  post("1", {.delay = 5ms});
  post("2", {.delay = 5ms});
  post("3", {.delay = 6ms});
  post("0");
  loop.advance(1h);
  EXPECT_THAT(trace.take(), ElementsAre("0", "1", "2", "3"));
}

// Rule: DLY-2
TEST_F(Dly2, tasks_when_some_of_a_tick_are_aborted_then_the_rest_keeps_its_order) {
  AbortController controller;
  post("1", {.delay = 5ms});
  post("never", {.signal = controller.signal(), .delay = 5ms});
  post("2", {.delay = 5ms});
  post("never", {.signal = controller.signal(), .delay = 5ms});
  post("3", {.delay = 5ms});
  loop.advance(1ms);
  controller.abort();
  loop.advance(1h);
  EXPECT_THAT(trace.take(), ElementsAre("1", "2", "3"));
}

class Dly3 : public VirtualLoopFixture {};

// Rule: DLY-3
TEST_F(Dly3, WPT_SP_16_task_when_the_delay_is_zero_or_negative_then_it_is_enqueued_at_once) {
  post("1");
  post("2", {.delay = 0ms});
  post("3", {.delay = -1h});
  post("4", {.delay = nanoseconds::min()});
  post("5");
  EXPECT_THAT(run(), ElementsAre("1", "2", "3", "4", "5"));
}

// Rule: DLY-3
TEST_F(Dly3, task_when_the_delay_is_beyond_the_range_then_it_never_runs_but_aborts) {
  AbortController controller;
  std::vector<Promise<void>> promises;
  for (const Delay delay : {Delay::never(), Delay(nanoseconds::max()), Delay(Years(200))}) {
    promises.push_back(post_task("never", {.signal = controller.signal(), .delay = delay}));
  }
  loop.advance(Years(100));
  EXPECT_EQ(loop.pending(), 3U);
  controller.abort();
  for (const auto& promise : promises) EXPECT_THROW(promise.get(), AbortError);
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: DLY-3
TEST_F(Dly3, task_when_the_delay_is_a_century_then_it_runs_then) {
  post("task", {.delay = Years(100)});
  loop.advance(Years(100) - 1ns);
  EXPECT_THAT(trace.take(), ElementsAre());
  loop.advance(1ns);
  EXPECT_THAT(trace.take(), ElementsAre("task"));
}

// Rule: DLY-3
TEST_F(Dly3, expiry_when_the_end_of_the_delay_is_beyond_the_range_then_never) {
  LoopTime time(LoopClock::virtual_time, 1ms);
  time.set_virtual(Years(200));
  EXPECT_EQ(LoopTime::end_of(Years(140), time.now()), no_tick);
}

class Dly4From : public PostedFrom {
 protected:
  TaskController controller;
};
INSTANTIATE_TEST_SUITE_P(Origins, Dly4From, every_origin, origin_name);

// Rule: DLY-4
TEST_P(Dly4From, WPT_DLY_02_set_priority_when_raised_during_the_delay_then_the_task_is_no_earlier) {
  post("task", {.signal = controller.signal(), .delay = 20ms});
  post("shorter", {.priority = background, .delay = 10ms});
  arrive();
  from_origin([&] { controller.set_priority(user_blocking); });
  loop.advance(20ms - 1ns);
  EXPECT_THAT(trace.take(), ElementsAre("shorter"));
  loop.advance(1ns);
  EXPECT_THAT(trace.take(), ElementsAre("task"));
}

// Rule: DLY-4
TEST_P(Dly4From, set_priority_when_changed_during_the_delay_then_the_task_goes_to_the_new_level) {
  post("dynamic", {.signal = controller.signal(), .delay = 20ms});
  post("fixed", {.signal = controller.signal(), .priority = user_visible, .delay = 20ms});
  post("uv", {.delay = 20ms});
  arrive();
  from_origin([&] { controller.set_priority(background); });
  loop.advance(20ms);
  EXPECT_THAT(trace.take(), ElementsAre("fixed", "uv", "dynamic"));
}

class Ord4 : public VirtualLoopFixture {};

// Rule: ORD-4
TEST_F(Ord4, WPT_DLY_04_delayed_task_when_others_were_posted_during_its_delay_then_it_is_younger) {
  post("delayed", {.delay = 10ms});
  loop.advance(10ms - 1ns);
  post("posted meanwhile");
  loop.spend(1ns);
  EXPECT_THAT(run(), ElementsAre("posted meanwhile", "delayed"));
}

// Rule: ORD-4
TEST_F(Ord4,
       WPT_DLY_05_delayed_task_when_of_lower_priority_then_it_overtakes_nothing_posted_later) {
  post("delayed", {.priority = background, .delay = 10ms});
  scheduler.post(tracked([&] { post("posted after expiry"); }), {.delay = 10ms});
  loop.advance(10ms);
  EXPECT_THAT(trace.take(), ElementsAre("posted after expiry", "delayed"));
}

// Rule: ORD-4. An expiry while the agent is busy is noticed at the next pick, where it falls behind
// everything posted before that pick.
TEST_F(Ord4, delayed_task_when_it_expired_during_a_task_then_behind_what_was_posted_meanwhile) {
  post("delayed", {.delay = 10ms});
  scheduler.post(tracked([&] {
    loop.spend(20ms);
    post("posted by the task");
    on_thread([&] { post("posted by another thread"); });
  }));
  EXPECT_THAT(run(), ElementsAre("posted by the task", "posted by another thread", "delayed"));
}

// Rule: ORD-4, ORD-3
TEST_F(Ord4, delayed_task_when_it_expired_during_a_task_and_is_higher_then_it_is_next) {
  post("delayed", {.priority = user_blocking, .delay = 10ms});
  scheduler.post(tracked([&] { loop.spend(20ms); }));
  post("older");
  EXPECT_THAT(run(), ElementsAre("delayed", "older"));
}

// Rule: ORD-4, DLY-2
TEST_F(Ord4, delayed_tasks_when_several_expired_during_a_task_then_in_order_of_expiry) {
  post("20", {.delay = 20ms});
  post("10, first", {.delay = 10ms});
  post("15", {.delay = 15ms});
  post("10, second", {.delay = 10ms});
  scheduler.post(tracked([&] { loop.spend(1h); }));
  EXPECT_THAT(run(), ElementsAre("10, first", "10, second", "15", "20"));
}

// Rule: ORD-4
TEST_F(Ord4, delayed_task_when_it_expired_on_its_way_then_it_runs_at_the_next_pick) {
  on_thread([&] { post("delayed", {.delay = 1ms}); });
  loop.spend(5ms);
  EXPECT_THAT(run(), ElementsAre("delayed"));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
