// How long an agent looks for work before it sleeps (docs/adr/0038).
#include "heist/loop/agent_sleep.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <heist/detail/access.hpp>
#include <heist/event_loop.hpp>
#include <optional>

#include "heist/loop/loop_core.hpp"
#include "heist/loop/spin_until.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;

class AgentSleepSpin : public testing::Test {
 protected:
  static constexpr auto spin = 20us;

  /// Begins a wait so much later than the one before.
  std::chrono::nanoseconds wait_after(std::chrono::nanoseconds time) {
    now_ += time;
    return sleep_.spin().begin_wait(now_);
  }

 private:
  Inbox inbox_;
  const LoopTime time_{LoopClock::steady, 1ms};
  const MetricClock clock_{time_};
  AgentSleep sleep_{inbox_, spin, clock_};
  Parker::Clock::time_point now_ = Parker::Clock::time_point(1h);
};

TEST_F(AgentSleepSpin, begin_wait_when_the_last_one_began_within_ten_spins_then_spins) {
  static_cast<void>(wait_after(0us));
  EXPECT_EQ(wait_after(1us), spin);
  EXPECT_EQ(wait_after(10 * spin), spin);
}

TEST_F(AgentSleepSpin, begin_wait_when_the_last_one_began_longer_ago_then_sleeps_at_once) {
  EXPECT_EQ(wait_after(0us), 0us);
  EXPECT_EQ(wait_after(10 * spin + 1ns), 0us);
  EXPECT_EQ(wait_after(10 * spin), spin);
}

/// How often an agent that waits for nothing looks for work.
int looks_of(AgentSleep& sleep) {
  const EventLoop loop;
  int looks = 0;
  spin_until(sleep, Access::core(loop), std::nullopt, [&looks] {
    ++looks;
    return false;
  });
  return looks;
}

TEST(AgentSleep, spin_until_when_the_agent_does_not_spin_then_no_look) {
  Inbox inbox;
  const LoopTime time(LoopClock::steady, 1ms);
  const MetricClock clock(time);
  AgentSleep sleep(inbox, 0ns, clock);
  EXPECT_EQ(looks_of(sleep), 0);
}

TEST(AgentSleep, spin_until_when_work_is_rare_then_one_look_and_else_many) {
  Inbox inbox;
  const LoopTime time(LoopClock::steady, 1ms);
  const MetricClock clock(time);
  AgentSleep sleep(inbox, 10ms, clock);
  static_cast<void>(sleep.spin().begin_wait(Parker::Clock::now() - 1s));
  EXPECT_EQ(looks_of(sleep), 1);
  EXPECT_GT(looks_of(sleep), 1);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
