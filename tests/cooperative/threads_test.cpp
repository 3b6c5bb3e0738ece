// Tasks scheduled and cancelled by other threads. Rule: COOP-2, ORD-2.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <thread>

#include "support/cooperative_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class CooperativeThreads : public CooperativeFixture {
 protected:
  static void elsewhere(const std::function<void()>& work) { std::thread(work).join(); }
};

TEST_F(CooperativeThreads, tasks_when_scheduled_anywhere_then_in_real_time_order) {
  elsewhere([this] { schedule(normal, "1"); });
  loop.scheduler().post([this] {
    schedule(normal, "2");
    elsewhere([this] { schedule(normal, "3"); });
    schedule(normal, "4");
  });
  EXPECT_THAT(run(), ElementsAre("1", "2", "3", "4"));
}

TEST_F(CooperativeThreads, urgent_task_when_it_comes_amid_a_slice_then_next) {
  scheduler.schedule_callback(normal, [this] {
    trace.add("runs");
    elsewhere([this] { schedule(immediate, "urgent"); });
  });
  schedule(normal, "other");
  EXPECT_THAT(run(), ElementsAre("runs", "urgent", "other"));
}

TEST_F(CooperativeThreads, task_when_cancelled_amid_a_slice_then_not_started) {
  CooperativeTask cancelled;
  scheduler.schedule_callback(normal, [&] {
    trace.add("runs");
    elsewhere([&] { scheduler.cancel_callback(cancelled); });
  });
  cancelled = schedule(normal, "cancelled");
  schedule(normal, "other");
  EXPECT_THAT(run(), ElementsAre("runs", "other"));
}

TEST_F(CooperativeThreads, task_and_message_of_one_thread_when_sent_then_in_that_order) {
  elsewhere([this] {
    schedule(normal, "task");
    post("post");
  });
  EXPECT_THAT(run(), ElementsAre("task", "post"));
}

TEST_F(CooperativeThreads, delayed_task_when_scheduled_elsewhere_then_counted_from_the_call) {
  elsewhere([this] { schedule(normal, "delayed", 10ms); });
  busy(4ms);
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_THAT(advance(5ms), ElementsAre());
  EXPECT_THAT(advance(1ms), ElementsAre("delayed"));
}

TEST_F(CooperativeThreads, first_delayed_task_when_cancelled_elsewhere_then_the_second_is_on_time) {
  const auto first = schedule(normal, "first", 10ms);
  schedule(normal, "second", 20ms);
  run();
  elsewhere([&] { scheduler.cancel_callback(first); });
  EXPECT_THAT(advance(19ms), ElementsAre());
  EXPECT_THAT(advance(1ms), ElementsAre("second"));
}

TEST_F(CooperativeThreads, callback_when_cancelled_amid_the_last_slice_then_destroyed_by_it) {
  CooperativeTask ready;
  CooperativeTask delayed;
  scheduler.schedule_callback(immediate, [&] {
    elsewhere([&] {
      scheduler.cancel_callback(ready);
      scheduler.cancel_callback(delayed);
    });
  });
  ready = scheduler.schedule_callback(normal, note("ready"));
  delayed = scheduler.schedule_callback(normal, note("delayed"), {.delay = 10ms});
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeThreads,
       callback_when_cancelled_amid_the_last_slice_then_its_destructor_may_schedule) {
  CooperativeTask cancelled;
  scheduler.schedule_callback(immediate,
                              [&] { elsewhere([&] { scheduler.cancel_callback(cancelled); }); });
  cancelled = scheduler.schedule_callback(
      normal, [last = AtDestruction([this] { schedule(normal, "by the destructor"); })] {});
  EXPECT_THAT(run(), ElementsAre("by the destructor"));
}

TEST_F(CooperativeThreads,
       callback_when_its_cancelling_arrives_at_the_slices_very_end_then_destroyed_by_it) {
  const auto kept = scheduler.schedule_callback(normal, note("never"), {.delay = 1h});
  CooperativeTask cancelled;
  // Destroyed by the first look at delayed tasks that finds it cancelled: its message is still on
  // its way.
  cancelled =
      scheduler.schedule_callback(normal, [moved = AtDestruction([&] {
                                             elsewhere([&] { scheduler.cancel_callback(kept); });
                                             schedule(normal, "later", 30ms);  // takes messages
                                           })] {},
                                  {.delay = 10ms});
  const auto first = scheduler.schedule_callback(
      normal,
      [moved = AtDestruction([&] { elsewhere([&] { scheduler.cancel_callback(cancelled); }); })] {},
      {.delay = 20ms});
  run();
  scheduler.cancel_callback(first);
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeThreads, post_when_it_comes_amid_a_slice_then_before_the_next_slice) {
  scheduler.schedule_callback(normal, [this]() -> CooperativeCallback {
    elsewhere([this] { post("posted"); });
    return note("rest");
  });
  EXPECT_THAT(run(), ElementsAre("posted", "rest"));
}

TEST_F(CooperativeThreads, last_handle_when_what_arrives_drops_it_then_the_task_runs) {
  std::optional<CooperativeScheduler> last{CooperativeScheduler(loop.scheduler())};
  std::optional<TaskController> controller{std::in_place};
  loop.scheduler().post([] {}, {.signal = controller->signal()});
  run();
  controller->abort(
      std::make_shared<AtDestruction<std::function<void()>>>([&last] { last.reset(); }));
  loop.scheduler().post([&] {
    elsewhere([&] {
      controller->set_priority(TaskPriority::background);
      controller.reset();
    });
    EXPECT_TRUE(last);
    last->schedule_callback(normal, note("runs"));
    EXPECT_FALSE(last);
  });
  EXPECT_THAT(run(), ElementsAre("runs"));
}

TEST_F(CooperativeThreads, agent_when_it_sleeps_then_a_task_gets_it_up) {
  const Agent agent;
  const CooperativeScheduler on_agent(agent.scheduler());
  for (const Milliseconds delay : {Milliseconds(0), Milliseconds(2)}) {
    auto result = Promise<int>::with_resolver();
    on_agent.schedule_callback(low, [&result] { result.resolver.resolve(7); }, {.delay = delay});
    EXPECT_EQ(result.promise.get(), 7);
  }
}

}  // namespace
}  // namespace heist::support
