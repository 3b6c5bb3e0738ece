// When an agent leaves its CPU to an agent that it has woken (docs/adr/0047).
#include "heist/loop/late_start.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <heist/agent.hpp>
#include <heist/detail/access.hpp>
#include <heist/event_loop.hpp>
#include <heist/scheduler.hpp>
#include <optional>

#include "heist/loop/agent_sleep.hpp"
#include "heist/loop/loop_core.hpp"
#include "heist/loop/spin_until.hpp"
#include "support/sleeping_agent.hpp"
#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;
using support::SleepingAgent;
using support::wait_until;

/// A waker that looks for work, and the starts of an agent that it wakes.
class LateStartRule : public testing::Test {
 protected:
  void wake() { late_start_.expect(starts_); }
  void start() { starts_->count_one(); }
  /// Whether the waker leaves after it has looked for work for so long.
  bool leaves_after(std::chrono::nanoseconds looked) {
    return late_start_.should_leave(now_ - looked, now_);
  }
  /// How often it leaves, of so many times that it wakes an agent which starts late.
  int leaves_of(int wake_ups) {
    int leaves = 0;
    for (int i = 0; i < wake_ups; ++i) {
      wake();
      leaves += leaves_after(LateStart::patience) ? 1 : 0;
    }
    return leaves;
  }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

 private:
  LateStart late_start_;
  Ref<StartCount> starts_ = Ref<StartCount>::adopt(new StartCount);
  LateStart::Clock::time_point now_{1h};
};

TEST_F(LateStartRule, should_leave_when_nobody_was_woken_then_no) {
  EXPECT_FALSE(leaves_after(1s));
}

TEST_F(LateStartRule, should_leave_when_the_woken_agent_has_started_then_no) {
  wake();
  start();
  EXPECT_FALSE(leaves_after(1s));
}

TEST_F(LateStartRule, should_leave_when_it_has_not_started_then_once_after_a_while) {
  start();
  wake();
  EXPECT_FALSE(leaves_after(LateStart::patience - 1ns));
  EXPECT_TRUE(leaves_after(LateStart::patience));
  EXPECT_FALSE(leaves_after(LateStart::patience));
}

TEST_F(LateStartRule, should_leave_when_many_start_late_then_a_few_times_in_a_period) {
  constexpr int most = LateStart::most_in_a_period;
  EXPECT_EQ(leaves_of(most + 3), most);
  pass(LateStart::period - 1ns);
  EXPECT_EQ(leaves_of(1), 0);
  pass(1ns);
  EXPECT_EQ(leaves_of(most + 3), most);
}

TEST(LateStart, spin_until_when_a_woken_agent_starts_late_then_it_is_left_alone_once) {
  const EventLoop loop;
  Inbox inbox;
  AgentSleep sleep(inbox, 1ms);
  static_cast<void>(sleep.spin().begin_wait(Parker::Clock::now()));
  sleep.late_start().expect(AgentSleep(inbox, 1ms).starts());
  spin_until(sleep, Access::core(loop), std::nullopt, [] { return false; });
  EXPECT_FALSE(sleep.late_start().expects_one());
}

/// Whether the agent of this thread expects one that it has woken.
bool expects_one() { return loop_of_this_thread->sleep().late_start().expects_one(); }

TEST(LateStart, post_when_an_agent_wakes_another_then_it_expects_that_one) {
  const Agent waker;
  SleepingAgent woken;
  woken.fall_asleep();
  const auto wake_from = [&] {
    woken.scheduler().post([] {});
    return expects_one();
  };
  EXPECT_TRUE(waker.scheduler().post_task(wake_from).get());
}

TEST(LateStart, post_when_the_other_agent_is_awake_then_nobody_is_expected) {
  const Agent waker;
  const Agent other;
  support::Gate gate;
  other.scheduler().post([&] { gate.wait(); });
  const auto post_from = [&] {
    other.scheduler().post([] {});
    return expects_one();
  };
  EXPECT_FALSE(waker.scheduler().post_task(post_from).get());
  gate.open();
}

TEST(LateStart, starts_when_an_agent_was_woken_then_they_are_one_more) {
  EventLoop loop;
  AgentSleep& sleep = Access::core(loop).sleep();
  sleep.prepare();
  ASSERT_TRUE(sleep.announce());
  sleep.wake_up();
  sleep.end();
  EXPECT_EQ(sleep.starts()->count(), 1U);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
