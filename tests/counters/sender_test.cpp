// What operations of senders allocate, and what becomes of them without memory.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>

#include "counters/counting.hpp"
#include "execution/probe.hpp"

namespace heist::execution {
namespace {

using test::allocated_by;
using test::Allocations;
using StopEnv = ex::prop<exq::get_stop_token_t, exq::inplace_stop_token>;

// Rule: SND-1
TEST(SenderMemory, schedule_when_there_is_no_signal_then_nothing_is_allocated) {
  EventLoop loop;
  Ends ends;
  const exq::inplace_stop_source source;
  const auto work = [&] {
    const auto sched = as_scheduler(loop.scheduler(), TaskPriority::background);
    auto plain = ex::connect(ex::schedule(sched), Probe{&ends});
    auto stoppable = ex::connect(ex::schedule(sched),
                                 Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}});
    ex::start(plain);
    ex::start(stoppable);
    loop.run_until_idle();
  };
  EXPECT_EQ(allocated_by(work), Allocations());
  EXPECT_EQ(ends.values, 2);
}

// Rule: SND-4
TEST(SenderMemory, start_when_there_is_no_memory_for_a_signals_task_then_it_is_stopped) {
  if (!test::memory_can_fail()) GTEST_SKIP() << "memory cannot fail here";
  EventLoop loop;
  Ends ends;
  const TaskController controller;
  auto operation =
      ex::connect(ex::schedule(as_scheduler(loop.scheduler(), controller.signal())), Probe{&ends});
  {
    const test::NoMemory scope;
    ex::start(operation);
  }
  loop.run_until_idle();
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-8
TEST(SenderMemory, start_when_there_is_no_memory_for_a_delays_signal_then_it_is_stopped) {
  if (!test::memory_can_fail()) GTEST_SKIP() << "memory cannot fail here";
  EventLoop loop;
  Ends ends;
  const exq::inplace_stop_source source;
  auto operation = ex::connect(as_scheduler(loop.scheduler()).schedule_after(std::chrono::hours(1)),
                               Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}});
  {
    const test::NoMemory scope;
    ex::start(operation);
  }
  loop.run_until_idle();
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
}

}  // namespace
}  // namespace heist::execution
