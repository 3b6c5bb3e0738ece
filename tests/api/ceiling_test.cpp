// Rule: SEC-1: a scheduler with a ceiling gives no task a priority above it.
#include <gmock/gmock.h>

#include <heist/scheduler.hpp>
#include <heist/yield.hpp>
#include <stdexcept>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class Sec1Ceiling : public VirtualLoopFixture {
 protected:
  Scheduler low = scheduler.with_ceiling(background);
  TaskController urgent{user_blocking};
};

TEST_F(Sec1Ceiling, post_task_when_it_asks_for_more_then_it_has_the_ceiling) {
  low.post(note("asked"), {.priority = user_blocking});
  low.post(note("default"));
  scheduler.post(note("visible"));
  scheduler.post(note("background"), {.priority = background});
  scheduler.with_ceiling(user_visible).post(note("middle"), {.priority = user_blocking});
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("visible", "middle", "asked", "default", "background"));
}

TEST_F(Sec1Ceiling, post_task_when_it_asks_for_less_then_it_has_that) {
  scheduler.with_ceiling(user_visible).post(note("background"), {.priority = background});
  low.post(note("later"));
  scheduler.post(note("first"));
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("first", "background", "later"));
}

TEST_F(Sec1Ceiling, signal_when_its_priority_is_higher_then_its_tasks_stand_at_the_ceiling) {
  low.post(note("low"), {.signal = urgent.signal()});
  scheduler.post(note("visible"));
  scheduler.post(note("urgent"), {.signal = urgent.signal()});
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("urgent", "visible", "low"));
}

TEST_F(Sec1Ceiling, set_priority_when_above_the_ceiling_then_only_other_tasks_of_the_signal_rise) {
  TaskController controller(background);
  const Scheduler middle = scheduler.with_ceiling(user_visible);
  low.post(note("low"), {.signal = controller.signal()});
  middle.post(note("middle"), {.signal = controller.signal()});
  scheduler.post(note("free"), {.signal = controller.signal()});
  scheduler.post(note("visible"));
  controller.set_priority(user_blocking);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("free", "middle", "visible", "low"));
}

TEST_F(Sec1Ceiling, set_priority_when_below_the_ceiling_then_all_fall) {
  const Scheduler middle = scheduler.with_ceiling(user_visible);
  middle.post(note("middle"), {.signal = urgent.signal()});
  scheduler.post(note("visible"));
  urgent.set_priority(background);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("visible", "middle"));
}

TEST_F(Sec1Ceiling, signal_that_follows_when_its_source_rises_then_the_ceiling_holds) {
  TaskController controller(background);
  const auto any = TaskSignal::any({}, controller.signal());
  low.post(note("low"), {.signal = any});
  scheduler.post(note("visible"));
  controller.set_priority(user_blocking);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("visible", "low"));
}

TEST_F(Sec1Ceiling, abort_when_the_task_is_below_a_ceiling_then_it_goes) {
  auto promise = low.post_task(note("never"), {.signal = urgent.signal()});
  urgent.abort();
  loop.run_until_idle();
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_THAT(trace.take(), ElementsAre());
}

TEST_F(Sec1Ceiling, yield_when_it_asks_for_more_then_the_continuation_has_the_ceiling) {
  auto promise = low.post_task([this]() -> Promise<void> {
    scheduler.post(note("visible"));
    co_await yield(ContinuationPriority::user_blocking);
    trace.add("fixed");
    scheduler.post(note("visible"));
    co_await yield({urgent.signal()});
    trace.add("of a signal");
  });
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("visible", "fixed", "visible", "of a signal"));
}

TEST_F(Sec1Ceiling, resume_on_when_that_scheduler_has_a_ceiling_then_it_holds) {
  auto promise = scheduler.post_task(
      [this]() -> Promise<void> {
        co_await resume_on(low);
        scheduler.post(note("visible"));
        co_await yield();
        trace.add("low");
      },
      {.priority = user_blocking});
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("visible", "low"));
}

TEST_F(Sec1Ceiling, current_when_in_such_a_task_then_it_has_the_ceiling) {
  low.post([this] {
    const auto mine = Scheduler::current();
    ASSERT_EQ(mine, low);
    mine->post(note("mine"), {.priority = user_blocking});
    mine->with_ceiling(user_blocking).post(note("mine, too"), {.priority = user_blocking});
    scheduler.post(note("visible"));
  });
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("visible", "mine", "mine, too"));
}

TEST_F(Sec1Ceiling, with_ceiling_when_the_same_then_it_is_the_same_scheduler) {
  EXPECT_EQ(scheduler.with_ceiling(user_blocking), scheduler);
  EXPECT_EQ(scheduler.with_ceiling(background), low);
  EXPECT_EQ(scheduler.with_ceiling(user_visible).with_ceiling(background), low);
  EXPECT_NE(scheduler.with_ceiling(user_visible), low);
  EXPECT_THROW(static_cast<void>(scheduler.with_ceiling(static_cast<TaskPriority>(3))),
               std::invalid_argument);
}

TEST_F(Sec1Ceiling, suspend_when_of_one_with_a_ceiling_then_only_that_one) {
  low.suspend();
  low.post(note("low"));
  low.post(note("delayed"), {.delay = 1ms});
  scheduler.post(note("free"));
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("free"));
  low.resume();
  loop.advance(1ms);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("low", "delayed"));
}

TEST_F(Sec1Ceiling, close_when_its_tasks_are_held_then_they_reject) {
  low.suspend();
  auto promise = low.post_task(note("never"));
  loop.run_until_idle();
  loop.close(CloseMode::abort());
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

}  // namespace
}  // namespace heist::support
