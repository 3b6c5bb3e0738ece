// How an agent helps another one to start that it has woken (docs/adr/0047).
#include "heist/loop/late_start.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <heist/agent.hpp>
#include <heist/detail/access.hpp>
#include <heist/event_loop.hpp>
#include <heist/scheduler.hpp>
#include <optional>

#include "heist/loop/agent_sleep.hpp"
#include "heist/loop/loop_core.hpp"
#include "heist/loop/spin_until.hpp"
#include "heist/os/thread.hpp"
#include "support/rival_thread.hpp"
#include "support/sleeping_agent.hpp"
#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;
using support::SleepingAgent;
using support::wait_until;

/// A waker that looks for work, and an agent that it wakes.
class LateStartRule : public testing::Test {
 protected:
  static constexpr pid_t thread = 4711;

  void wake() {
    starts_->sleep_on(thread);
    late_start_.expect(starts_);
  }
  void start() { starts_->end_sleep(); }
  void sleep_again() { starts_->sleep_on(thread); }
  /// The thread that is to be moved after the waker has looked for work for so long.
  pid_t late_after(std::chrono::nanoseconds looked) {
    late_start_.begin_wait(now_);
    now_ += looked;
    return late_start_.late_thread(now_ - looked, now_);
  }
  /// How often the waker helps, of so many times that it wakes an agent which starts late.
  int helps_of(int wake_ups) {
    int helps = 0;
    for (int i = 0; i < wake_ups; ++i) {
      wake();
      helps += late_after(LateStart::patience) == thread ? 1 : 0;
    }
    return helps;
  }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

 private:
  LateStart late_start_;
  Ref<Starts> starts_ = Ref<Starts>::adopt(new Starts);
  LateStart::Clock::time_point now_{1h};
};

TEST_F(LateStartRule, late_thread_when_nobody_was_woken_then_none) { EXPECT_EQ(late_after(1s), 0); }

TEST_F(LateStartRule, late_thread_when_the_woken_agent_has_started_then_none) {
  wake();
  start();
  EXPECT_EQ(late_after(1s), 0);
}

TEST_F(LateStartRule, late_thread_when_it_has_started_and_sleeps_again_then_none) {
  wake();
  start();
  sleep_again();
  EXPECT_EQ(late_after(1s), 0);
}

TEST_F(LateStartRule, late_thread_when_it_has_not_started_then_named_once_after_a_while) {
  wake();
  EXPECT_EQ(late_after(LateStart::patience - 1ns), 0);
  EXPECT_EQ(late_after(LateStart::patience), thread);
  EXPECT_EQ(late_after(LateStart::patience), 0);
}

TEST_F(LateStartRule, late_thread_when_many_start_late_then_a_few_times_in_a_period) {
  constexpr int most = LateStart::most_in_a_period;
  EXPECT_EQ(helps_of(most + 3), most);
  pass(LateStart::period - (most + 3) * LateStart::patience);
  EXPECT_EQ(helps_of(most + 3), most);
}

TEST_F(LateStartRule, late_thread_when_help_was_in_vain_then_none_in_that_period) {
  EXPECT_EQ(helps_of(1), 1);
  pass(LateStart::longest_start);
  EXPECT_EQ(helps_of(1), 1);
  pass(LateStart::longest_start + 1ns);
  EXPECT_EQ(helps_of(1), 0);
  pass(LateStart::period);
  EXPECT_EQ(helps_of(1), 1);
}

/// Looks for work, as an agent does that has woken one which sleeps on this thread.
void look_for_work_of(pid_t thread) {
  const EventLoop loop;
  Inbox inbox;
  AgentSleep sleep(inbox, 1h);
  static_cast<void>(sleep.spin().begin_wait(Parker::Clock::now()));
  const auto starts = Ref<Starts>::adopt(new Starts);
  starts->sleep_on(thread);
  sleep.late_start().expect(starts);
  const auto done = [&] { return sleep.late_start().expected() == nullptr; };
  spin_until(sleep, Access::core(loop), std::nullopt, done);
}

TEST(LateStart, spin_until_when_a_woken_agent_starts_late_then_it_is_moved_to_another_cpu) {
  if (CpuSet().cpus().size() == 1) GTEST_SKIP() << "There is only one CPU.";
  EXPECT_TRUE(support::rivals_are_moved_by(look_for_work_of));
}

/// Whose start the agent of this thread expects.
const Starts* expected_here() { return loop_of_this_thread->sleep().late_start().expected(); }

TEST(LateStart, post_when_an_agent_wakes_another_then_it_expects_that_one) {
  const Agent waker;
  SleepingAgent woken;
  woken.fall_asleep();
  const auto wake_from = [&] {
    woken.scheduler().post([] {});
    return expected_here();
  };
  const Starts* const expected = waker.scheduler().post_task(wake_from).get();
  EXPECT_EQ(expected, woken.scheduler()
                          .post_task([] { return loop_of_this_thread->sleep().starts().get(); })
                          .get());
}

TEST(LateStart, post_when_the_other_agent_is_awake_then_nobody_is_expected) {
  const Agent waker;
  const Agent other;
  support::Gate gate;
  other.scheduler().post([&] { gate.wait(); });
  const auto post_from = [&] {
    other.scheduler().post([] {});
    return expected_here();
  };
  EXPECT_EQ(waker.scheduler().post_task(post_from).get(), nullptr);
  gate.open();
}

TEST(LateStart, starts_when_an_agent_sleeps_then_they_name_its_thread_until_it_is_woken) {
  EventLoop loop;
  AgentSleep& sleep = Access::core(loop).sleep();
  AgentActivity activity;
  sleep.prepare();
  ASSERT_TRUE(sleep.announce());
  sleep.wake_up();
  sleep.until(std::nullopt, activity);
  EXPECT_EQ(sleep.starts()->thread(), gettid());
  EXPECT_EQ(sleep.starts()->count(), 0U);
  sleep.end();
  EXPECT_EQ(sleep.starts()->thread(), 0);
  EXPECT_EQ(sleep.starts()->count(), 1U);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
