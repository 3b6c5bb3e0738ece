// Slices of work, and what ends them. Rule: COOP-3, COOP-4, COOP-5.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <stdexcept>
#include <vector>

#include "support/cooperative_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class CooperativeSlice : public CooperativeFixture {
 protected:
  /// A task that is busy for so long.
  void schedule_busy(CooperativePriority level, std::chrono::nanoseconds duration,
                     std::string label) {
    scheduler.schedule_callback(level, [this, duration, label = std::move(label)] {
      trace.add(label);
      busy(duration);
    });
  }
  /// Works until it has to yield.   Returns the rest.
  CooperativeCallback work_off(int units) {
    for (; units > 0 && !scheduler.should_yield(); --units) busy(1ms);
    trace.add("left " + std::to_string(units));
    if (units == 0) return {};
    return [this, units] { return work_off(units); };
  }
};

TEST_F(CooperativeSlice, slice_when_over_then_the_loop_runs_its_other_tasks_first) {
  schedule_busy(normal, 3ms, "a");
  schedule_busy(normal, 3ms, "b");
  schedule_busy(normal, 3ms, "c");
  post("other");
  EXPECT_THAT(run(), ElementsAre("a", "b", "other", "c"));
}

TEST_F(CooperativeSlice, slice_when_a_task_takes_it_all_then_one_task_runs_in_each_all_the_same) {
  schedule_busy(normal, 50ms, "a");
  schedule_busy(normal, 50ms, "b");
  post("other");
  EXPECT_THAT(run(), ElementsAre("a", "other", "b"));
}

TEST_F(CooperativeSlice, late_tasks_when_the_slice_is_over_then_they_run_all_the_same) {
  schedule_busy(immediate, 50ms, "a");
  schedule_busy(immediate, 50ms, "b");
  post("other");
  EXPECT_THAT(run(), ElementsAre("a", "b", "other"));
}

TEST_F(CooperativeSlice, task_when_it_expired_while_another_ran_then_late) {
  std::vector<bool> late;
  scheduler.schedule_callback(user_blocking, [&](const Slice& slice) {
    late.push_back(slice.did_timeout);
    busy(300ms);
  });
  scheduler.schedule_callback(user_blocking,
                              [&](const Slice& slice) { late.push_back(slice.did_timeout); });
  run();
  EXPECT_THAT(late, ElementsAre(false, true));
}

TEST_F(CooperativeSlice, returned_callback_when_time_is_left_then_in_the_next_slice_all_the_same) {
  scheduler.schedule_callback(normal, [this]() -> CooperativeCallback {
    trace.add("first");
    return [this] { trace.add("rest"); };
  });
  schedule(normal, "next");
  post("other");
  EXPECT_THAT(run(), ElementsAre("first", "other", "rest", "next"));
}

TEST_F(CooperativeSlice, work_when_it_asks_should_yield_then_it_ends_with_the_slice) {
  scheduler.schedule_callback(normal, [this] { return work_off(12); });
  EXPECT_THAT(run(), ElementsAre("left 7", "left 2", "left 0"));
}

TEST_F(CooperativeSlice, deadline_when_reached_then_should_yield) {
  scheduler.schedule_callback(normal, [this](const Slice& slice) {
    EXPECT_EQ(slice.deadline, scheduler.now() + 5ms);
    busy(5ms - 1ns);
    EXPECT_FALSE(scheduler.should_yield());
    busy(1ns);
    EXPECT_TRUE(scheduler.should_yield());
    EXPECT_EQ(slice.deadline, scheduler.now());
  });
  run();
}

TEST_F(CooperativeSlice, paint_when_requested_then_the_slice_is_over_and_the_next_one_is_not) {
  scheduler.schedule_callback(normal, [this] {
    trace.add("asks");
    scheduler.request_paint();
    EXPECT_TRUE(scheduler.should_yield());
  });
  scheduler.schedule_callback(normal, [this] {
    trace.add("next");
    EXPECT_FALSE(scheduler.should_yield());
  });
  post("paints");
  EXPECT_THAT(run(), ElementsAre("asks", "paints", "next"));
}

TEST_F(CooperativeSlice, frame_rate_when_set_then_slices_are_whole_milliseconds) {
  const auto length = [this] {
    Milliseconds result{};
    scheduler.schedule_callback(
        normal, [this, &result](const Slice& slice) { result = slice.deadline - scheduler.now(); });
    run();
    return result;
  };
  scheduler.force_frame_rate(60);
  EXPECT_EQ(length(), 16ms);
  scheduler.force_frame_rate(125);
  EXPECT_EQ(length(), 8ms);
  scheduler.force_frame_rate(0);
  EXPECT_EQ(length(), 5ms);
  scheduler.set_frame_interval(Milliseconds(0.5));
  EXPECT_EQ(length(), 500us);
}

// Rule: DLY-6. Late tasks end no slice, but a signal's time limit aborts between two of them.
TEST_F(CooperativeSlice, limit_when_late_tasks_fill_the_slice_then_aborts_before_the_next_one) {
  const auto signal = AbortSignal::timeout(loop.scheduler(), 15ms);
  const auto subscription = signal.on_abort([this] {
    trace.add("abort");
    EXPECT_FALSE(Scheduler::current());
    schedule(immediate, "last");
  });
  for (const auto* label : {"1", "2", "3"}) schedule_busy(immediate, 10ms, label);
  loop.scheduler().post([this] { trace.add("task"); }, {.priority = TaskPriority::user_visible});
  EXPECT_THAT(run(), ElementsAre("1", "2", "abort", "3", "last", "task"));
}

TEST_F(CooperativeSlice, frame_rate_when_out_of_range_then_refused_and_nothing_changes) {
  scheduler.force_frame_rate(100);
  for (const double rate : {-1.0, 125.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(scheduler.force_frame_rate(rate), std::invalid_argument) << rate;
  }
  EXPECT_THROW(scheduler.set_frame_interval(Milliseconds(0)), std::invalid_argument);
  scheduler.schedule_callback(
      normal, [this](const Slice& slice) { EXPECT_EQ(slice.deadline - scheduler.now(), 10ms); });
  run();
}

}  // namespace
}  // namespace heist::support
