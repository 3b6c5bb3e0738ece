// EventLoop::spend(): virtual time that passes within a task. Rule: ORD-4.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <stdexcept>
#include <thread>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::LoopTest;
using test::Trace;

class EventLoopSpend : public LoopTest {};

TEST_F(EventLoopSpend, spend_when_within_a_task_then_what_expires_meanwhile_runs_after_it) {
  scheduler.post(note("late"), {.delay = 20ms});
  scheduler.post(note("early"), {.delay = 10ms});
  scheduler.post([this] {
    loop.spend(20ms);
    trace.emplace_back("end of the task");
  });
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"end of the task", "early", "late"}));
  EXPECT_EQ(loop.now(), 20ms);
}

TEST_F(EventLoopSpend, spend_when_more_than_is_advanced_then_time_does_not_go_back) {
  scheduler.post([this] { loop.spend(30ms); }, {.delay = 5ms});
  loop.advance(10ms);
  EXPECT_EQ(loop.now(), 35ms);
}

TEST_F(EventLoopSpend, spend_when_beyond_the_clocks_range_then_at_its_end) {
  loop.spend(1ms);
  loop.spend(std::chrono::nanoseconds::max());
  EXPECT_EQ(loop.now(), std::chrono::nanoseconds::max());
}

TEST_F(EventLoopSpend, spend_when_on_the_steady_clock_or_negative_then_refused) {
  EventLoop steady;
  EXPECT_THROW(steady.spend(1ms), NotAllowedError);
  EXPECT_THROW(loop.spend(-1ms), std::invalid_argument);
  EXPECT_EQ(loop.now(), 0ns);
}

TEST_F(EventLoopSpend, spend_when_another_thread_drives_the_loop_then_not_allowed) {
  scheduler.post(
      [this] { std::jthread([this] { EXPECT_THROW(loop.spend(1ms), NotAllowedError); }); });
  loop.run_until_idle();
  EXPECT_EQ(loop.now(), 0ns);
}

}  // namespace
}  // namespace heist
