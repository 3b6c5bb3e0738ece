// What a Trace allocates while it records. Rule: TRC-7.
#include <gtest/gtest.h>

#include <heist/heist.hpp>

#include "counters/counting.hpp"

namespace heist {
namespace {

TEST(TraceMemory, events_when_recorded_then_nothing_is_allocated) {
  if (!test::pool_recycles()) GTEST_SKIP() << "this build's pool keeps nothing";
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  const Scheduler scheduler = loop.scheduler();
  TaskController controller;
  const auto use_all = [&] {
    scheduler.post([] {});
    scheduler.post([] {}, {.signal = controller.signal()});
    controller.set_priority(TaskPriority::background);
    controller.set_priority(TaskPriority::user_visible);
    loop.run_until_idle();
  };
  use_all();
  Trace trace({.events_per_thread = 64});
  EXPECT_EQ(test::allocated_by(use_all), test::Allocations{});
  trace.stop();
  EXPECT_EQ(trace.counts().events, 8U);
}

}  // namespace
}  // namespace heist
