// Rule: SUS-1, LIF-1. A suspended scheduler's tasks are not runnable, keep their order, and its
//         delays stop.
#include <gmock/gmock.h>

#include <heist/agent.hpp>
#include <heist/heist.hpp>
#include <thread>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Sus1 : public VirtualLoopFixture {
 protected:
  Scheduler other = loop.create_scheduler();
};

TEST_F(Sus1, suspend_then_only_its_tasks_wait_and_resume_keeps_their_order) {
  post("a");
  other.post(note("b"));
  post("c", {.priority = user_blocking});
  post("d");
  scheduler.suspend();
  post("e");
  EXPECT_THAT(run(), ElementsAre("b"));
  EXPECT_EQ(loop.pending(), 4U);
  other.post(note("f"));
  scheduler.resume();
  EXPECT_THAT(run(), ElementsAre("c", "a", "d", "e", "f"));
}

TEST_F(Sus1, suspend_when_two_schedulers_share_queues_then_merged_by_age_again) {
  post("1");
  other.post(note("2"));
  post("3");
  scheduler.suspend();
  other.suspend();
  EXPECT_THAT(run(), IsEmpty());
  scheduler.resume();
  arrive();
  other.resume();
  EXPECT_THAT(run(), ElementsAre("1", "2", "3"));
}

TEST_F(Sus1, suspend_when_a_task_does_it_then_the_next_pick_heeds_it_and_continuations_wait) {
  const auto coroutine = [this]() -> Promise<void> {
    scheduler.suspend();
    trace.add("first");
    co_await heist::yield();
    trace.add("second");
  };
  static_cast<void>(scheduler.post_task(coroutine));
  other.post(note("other"));
  EXPECT_THAT(run(), ElementsAre("first", "other"));
  scheduler.resume();
  EXPECT_THAT(run(), ElementsAre("second"));
}

TEST_F(Sus1, delay_when_suspended_then_stops_counting) {
  post("early", {.delay = 5ms});
  post("late", {.delay = 10ms});
  other.post(note("other"), {.delay = 10ms});
  loop.advance(4ms);
  scheduler.suspend();
  loop.advance(100ms);
  EXPECT_THAT(trace.take(), ElementsAre("other"));
  post("posted meanwhile", {.delay = 1ms});
  loop.advance(100ms);
  scheduler.resume();
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("early", "posted meanwhile"));
  loop.advance(4ms);
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("late"));
}

TEST_F(Sus1, priority_when_changed_while_suspended_then_used_when_resumed) {
  TaskController controller(background);
  post("dynamic", {.signal = controller.signal()});
  post("visible");
  scheduler.suspend();
  EXPECT_THAT(run(), IsEmpty());
  post("dynamic later", {.signal = controller.signal()});
  controller.set_priority(user_blocking);
  scheduler.resume();
  EXPECT_THAT(run(), ElementsAre("dynamic", "dynamic later", "visible"));
}

TEST_F(Sus1, abort_when_held_back_then_rejected_and_cleared_away) {
  TaskController controller;
  auto queued = post_task("queued", {.signal = controller.signal()});
  auto delayed = post_task("delayed", {.signal = controller.signal(), .delay = 5ms});
  scheduler.suspend();
  EXPECT_THAT(run(), IsEmpty());
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(loop.pending(), 0U);
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_THROW(std::move(queued).get(), AbortError);
  EXPECT_THROW(std::move(delayed).get(), AbortError);
  scheduler.resume();
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(Sus1, timers_and_other_sources_when_suspended_then_run) {
  scheduler.suspend();
  loop.queue_task(TaskSource::io, note("io"));
  other.post([this] { static_cast<void>(set_timeout(note("timer"))); });
  EXPECT_THAT(run(), ElementsAre("io", "timer"));
  scheduler.resume();
}

TEST_F(Sus1, close_when_held_back_then_every_promise_rejects) {
  auto queued = post_task("queued");
  auto delayed = post_task("delayed", {.delay = 5ms});
  scheduler.suspend();
  loop.run_until_idle();
  const CloseReport report = loop.close(CloseMode::drain());
  EXPECT_EQ(report.aborted, 2U);
  EXPECT_THROW(std::move(queued).get(), AbortError);
  EXPECT_THROW(std::move(delayed).get(), AbortError);
  scheduler.resume();
  scheduler.suspend();
}

TEST_F(Sus1, close_when_what_is_dropped_creates_schedulers_then_every_task_is_dropped) {
  loop.needs_driver();
  const auto creates = [this] {
    for (int i = 0; i < 8; ++i) static_cast<void>(loop.create_scheduler());
  };
  other.post([at_end = AtDestruction(creates)] {});
  const Scheduler last = loop.create_scheduler();
  const auto held = last.post_task(note("held"));
  other.suspend();
  last.suspend();
  EXPECT_THAT(run(), IsEmpty());
  loop.close(CloseMode::abort());
  EXPECT_TRUE(held.settled());
}

TEST(Sus1Agent, suspend_when_returned_then_no_later_pick_starts_a_task_of_it) {
  Agent agent;
  const Scheduler scheduler = agent.scheduler();
  for (int round = 0; round < 200; ++round) {
    scheduler.suspend();
    bool ran = false;
    auto held = scheduler.post_task([&ran] { ran = true; });
    auto passes = Promise<void>::with_resolver();
    agent.queue_task(TaskSource::message,
                     [resolver = std::move(passes.resolver)]() mutable { resolver.resolve(); });
    passes.promise.get();
    EXPECT_FALSE(ran);
    scheduler.resume();
    held.get();
    EXPECT_TRUE(ran);
  }
}

TEST(Sus1Agent, close_when_asked_to_wait_then_waits_for_the_resumption) {
  Agent agent;
  const Scheduler scheduler = agent.scheduler();
  scheduler.suspend();
  auto held = scheduler.post_task([] { return 7; });
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  const std::jthread closer([&] { agent.close(mode); });
  scheduler.resume();
  EXPECT_EQ(held.get(), 7);
}

}  // namespace
}  // namespace heist::support
