// schedule_after and schedule_at: when they complete, and that stops end the wait at once.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <string>
#include <utility>

#include "execution/probe.hpp"
#ifdef HEIST_TESTS_USE_STDEXEC
#include <exec/timed_scheduler.hpp>
#endif

namespace heist::execution {
namespace {

#ifdef HEIST_TESTS_USE_STDEXEC
static_assert(exec::timed_scheduler<TaskScheduler>);
static_assert(exec::timed_scheduler<SignalScheduler>);
#endif

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using StopEnv = ex::prop<exq::get_stop_token_t, exq::inplace_stop_token>;

EventLoopOptions virtual_time() {
  EventLoopOptions options;
  options.clock = LoopClock::virtual_time;
  return options;
}

class Delayed : public testing::Test {
 protected:
  [[nodiscard]] auto note(std::string text) {
    return Calling{[this, text = std::move(text)] { told += text; }};
  }
  void pass(std::chrono::milliseconds time) {
    loop.advance(time);
    loop.run_until_idle();
  }

  Ends ends;
  std::string told;
  exq::inplace_stop_source source;
  EventLoop loop{virtual_time()};
  TaskScheduler sched = as_scheduler(loop.scheduler());
};

// Rule: SND-8
TEST_F(Delayed, schedule_after_when_the_delay_is_over_then_it_completes) {
  auto b = ex::connect(sched.schedule_after(20ms), note("b"));
  auto a = ex::connect(sched.schedule_after(10ms), note("a"));
  ex::start(b);
  ex::start(a);
  pass(9ms);
  EXPECT_EQ(told, "");
  pass(1ms);
  EXPECT_EQ(told, "a");
  pass(10ms);
  EXPECT_EQ(told, "ab");
}

// Rule: SND-8
TEST_F(Delayed, schedule_at_when_the_time_comes_then_it_completes_however_late_it_started) {
  auto operation = ex::connect(sched.schedule_at(sched.now() + 10ms), note("a"));
  auto past = ex::connect(sched.schedule_at(sched.now() - 10ms), note("b"));
  pass(5ms);
  ex::start(operation);
  ex::start(past);
  pass(4ms);
  EXPECT_EQ(told, "b");
  pass(1ms);
  EXPECT_EQ(told, "ba");
}

// Rule: SND-8
TEST_F(Delayed, request_stop_when_it_waits_then_the_timer_leaves_at_once) {
  auto operation = ex::connect(sched.schedule_after(1h),
                               Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}});
  ex::start(operation);
  loop.run_until_idle();
  EXPECT_EQ(loop.pending(), 1U);
  source.request_stop();
  loop.run_until_idle();
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: SND-8
TEST_F(Delayed, start_when_the_stop_came_before_then_it_is_stopped_at_once) {
  auto operation = ex::connect(sched.schedule_after(1h),
                               Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}});
  source.request_stop();
  ex::start(operation);
  EXPECT_EQ(ends.stops, 1);
  loop.run_until_idle();
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-8
TEST_F(Delayed, request_stop_when_it_has_completed_then_it_changes_nothing) {
  auto operation = ex::connect(sched.schedule_after(1ms),
                               Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}});
  ex::start(operation);
  pass(1ms);
  source.request_stop();
  EXPECT_EQ(ends.values, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-8
TEST_F(Delayed, abort_when_it_waits_then_the_timer_leaves_at_once) {
  TaskController controller;
  const auto followed = as_scheduler(loop.scheduler(), controller.signal());
  auto plain = ex::connect(followed.schedule_after(1h), Probe{&ends});
  auto stoppable = ex::connect(followed.schedule_after(1h),
                               Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}});
  ex::start(plain);
  ex::start(stoppable);
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(ends.stops, 2);
  EXPECT_EQ(ends.all(), 2);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: SND-5
TEST_F(Delayed, close_when_it_waits_then_it_is_stopped) {
  auto operation = ex::connect(sched.schedule_after(1h),
                               Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}});
  ex::start(operation);
  loop.close(CloseMode::abort());
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
}

}  // namespace
}  // namespace heist::execution
