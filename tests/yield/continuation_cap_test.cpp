// Rule: YLD-6. Continuations that went first for long enough let a task of their
//         priority pass.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <stdexcept>

#include "support/runtime_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class Yld6 : public RuntimeFixture {
 protected:
  /// Yields `turns` times, each turn taking a millisecond.
  Promise<void> busy(std::string label, int turns) {
    for (int turn = 1; turn <= turns; ++turn) {
      co_await heist::yield();
      trace.add(label + std::to_string(turn));
      loop.spend(1ms);
    }
  }
  void post(const char* label, TaskPriority priority = TaskPriority::user_visible) {
    scheduler.post(note(label), {.priority = priority});
  }

  EventLoop loop{{.clock = LoopClock::virtual_time, .continuation_cap = 2ms}};
  Scheduler scheduler = loop.scheduler();
};

TEST_F(Yld6, continuations_when_they_go_for_the_cap_then_one_task_of_their_priority_passes) {
  static_cast<void>(scheduler.post_task([this] { return busy("y", 5); }));
  post("a");
  post("b");
  post("background", TaskPriority::background);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("y1", "y2", "a", "y3", "y4", "b", "y5", "background"));
}

TEST_F(Yld6, continuations_when_no_task_of_their_priority_waits_then_they_go_on) {
  static_cast<void>(scheduler.post_task([this] { return busy("y", 4); },
                                        {.priority = TaskPriority::user_blocking}));
  post("visible");
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("y1", "y2", "y3", "y4", "visible"));
}

TEST_F(Yld6, continuations_when_a_higher_task_comes_between_then_the_time_counts_anew) {
  const auto interrupted = [this]() -> Promise<void> {
    co_await heist::yield();
    loop.spend(1ms);
    post("blocking", TaskPriority::user_blocking);
    const auto turns = busy("y", 3);
    co_await turns;
  };
  static_cast<void>(scheduler.post_task(interrupted));
  post("visible");
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("blocking", "y1", "y2", "visible", "y3"));
}

TEST_F(Yld6, continuations_when_held_back_tasks_come_up_then_a_runnable_one_passes_all_the_same) {
  const Scheduler other = loop.create_scheduler();
  static_cast<void>(scheduler.post_task([this] { return busy("y", 4); }));
  other.post(note("held"));
  other.post(note("held"));
  post("a");
  loop.run_one();
  other.suspend();
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("y1", "y2", "a", "y3", "y4"));
  other.resume();
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("held", "held"));
}

TEST_F(Yld6, WPT_SP_15_continuations_when_there_is_no_cap_then_their_level_waits_till_the_end) {
  EventLoop uncapped{{.clock = LoopClock::virtual_time}};
  const auto work = [&]() -> Promise<void> {
    for (int turn = 0; turn < 10'000; ++turn) {
      co_await heist::yield();
      uncapped.spend(1h);
    }
    trace.add("done");
  };
  static_cast<void>(uncapped.scheduler().post_task(work));
  uncapped.scheduler().post(note("same priority"));
  uncapped.scheduler().post(note("blocking"), {.priority = TaskPriority::user_blocking});
  uncapped.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("blocking", "done", "same priority"));
}

TEST_F(Yld6, cap_when_negative_or_above_an_hour_then_refused) {
  EXPECT_THROW(EventLoop({.continuation_cap = -1ns}), std::invalid_argument);
  EXPECT_THROW(EventLoop({.continuation_cap = 2h}), std::invalid_argument);
}

}  // namespace
}  // namespace heist::support
