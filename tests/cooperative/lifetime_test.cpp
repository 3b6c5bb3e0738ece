// How schedulers, tasks and their loops end. Rule: COOP-2, COOP-9, LIF-2, LIF-3.
#include <gmock/gmock.h>

#include <functional>
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <thread>

#include "support/cooperative_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class CooperativeLifetime : public CooperativeFixture {};

TEST_F(CooperativeLifetime, exception_when_it_leaves_a_task_then_reported_and_the_rest_runs) {
  scheduler.schedule_callback(normal, [] { throw std::runtime_error("of a cooperative task"); });
  schedule(normal, "next");
  post("other");
  EXPECT_THAT(run(), ElementsAre("other", "next"));
  EXPECT_THAT(errors.take(),
              ElementsAre(RecordedError{ErrorOrigin::task, "of a cooperative task"}));
  EXPECT_EQ(scheduler.current_priority_level(), normal);
}

TEST_F(CooperativeLifetime, tasks_when_no_handle_is_left_then_they_run) {
  {
    const CooperativeScheduler gone(loop.scheduler());
    gone.schedule_callback(normal, note("at once"));
    gone.schedule_callback(normal, note("later"), {.delay = 10ms});
  }
  EXPECT_THAT(run(), ElementsAre("at once"));
  EXPECT_THAT(advance(10ms), ElementsAre("later"));
}

TEST_F(CooperativeLifetime, tasks_when_the_loop_closes_then_dropped_and_new_ones_refused) {
  scheduler.schedule_callback(normal, note("never"));
  scheduler.schedule_callback(normal, note("never"), {.delay = 10ms});
  std::optional<CooperativeTask> amid;
  scheduler.schedule_callback(idle, [moved = AtDestruction([&] {
                                       amid = scheduler.schedule_callback(normal, note("never"));
                                     })] {});
  static_cast<void>(loop.pending());  // they arrive; what follows is a message that does not
  scheduler.schedule_callback(immediate, note("never"), {.delay = 1ms});
  loop.close(CloseMode::abort());
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_FALSE(scheduler.schedule_callback(normal, note("never")));
  EXPECT_THAT(trace.take(), ElementsAre());
}

TEST_F(CooperativeLifetime, task_when_the_loop_closes_with_none_yet_then_refused) {
  std::optional<CooperativeTask> amid;
  loop.scheduler().post([moved = AtDestruction([&] {
                           amid = scheduler.schedule_callback(normal, note("never"));
                         })] {});
  loop.close(CloseMode::abort());
  ASSERT_TRUE(amid);
  EXPECT_FALSE(*amid);
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeLifetime, scheduler_when_closed_on_its_loop_then_empty_and_others_are_not) {
  const CooperativeScheduler other(loop.scheduler());
  EXPECT_THROW(scheduler.close(), NotAllowedError);
  scheduler.schedule_callback(normal, note("never"));
  scheduler.schedule_callback(normal, note("never"), {.delay = 1ms});
  other.schedule_callback(normal, note("other"));
  loop.scheduler().post([this] { scheduler.close(); }, {.priority = TaskPriority::user_blocking});
  EXPECT_THAT(run(), ElementsAre("other"));
  EXPECT_THAT(advance(1ms), ElementsAre());
  scheduler.schedule_callback(normal, note("never"));  // as another thread: dropped as it comes
  loop.scheduler().post([this] { EXPECT_FALSE(schedule(normal, "never")); });
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeLifetime,
       scheduler_when_a_cancelled_callbacks_end_closes_it_then_nothing_is_called) {
  const auto cancelled =
      scheduler.schedule_callback(normal, [last = AtDestruction([this] { scheduler.close(); })] {});
  scheduler.schedule_callback(normal, note("never"));
  scheduler.cancel_callback(cancelled);
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeLifetime, callback_when_a_closed_scheduler_drops_it_then_its_end_posts_in_turn) {
  loop.scheduler().post([this] { scheduler.close(); });
  run();
  scheduler.schedule_callback(normal, [last = AtDestruction([this] { post("its end's"); })] {});
  post("posted before");
  EXPECT_THAT(run(), ElementsAre("posted before", "its end's"));
}

TEST_F(CooperativeLifetime, delayed_task_when_it_comes_to_a_closed_scheduler_then_dropped_at_once) {
  loop.scheduler().post([this] { scheduler.close(); });
  run();
  scheduler.schedule_callback(normal, note("never"), {.delay = 1h});
  run();
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeLifetime, scheduler_when_closed_then_its_timeout_waits_no_more) {
  loop.scheduler().post([this] {
    schedule(normal, "never", 1h);
    scheduler.close();
  });
  run();
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(CooperativeLifetime, tasks_when_the_loop_drains_then_those_that_are_ready_run) {
  scheduler.schedule_callback(normal, [this]() -> CooperativeCallback {
    trace.add("first");
    return note("rest");
  });
  scheduler.schedule_callback(normal, note("never"), {.delay = 10ms});
  loop.close(CloseMode::drain());
  EXPECT_THAT(trace.take(), ElementsAre("first", "rest"));
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeLifetime, other_threads_when_the_loop_drains_then_refused_and_its_tasks_are_not) {
  scheduler.schedule_callback(normal, [this] {
    std::thread([this] { EXPECT_FALSE(schedule(normal, "another thread's")); }).join();
    EXPECT_TRUE(schedule(normal, "a task's"));
  });
  loop.close(CloseMode::drain());
  EXPECT_THAT(trace.take(), ElementsAre("a task's"));
}

TEST_F(CooperativeLifetime, handles_when_the_loop_is_gone_then_still_valid) {
  std::optional<EventLoop> other(std::in_place, EventLoopOptions{.clock = LoopClock::virtual_time});
  const CooperativeScheduler outlives(other->scheduler());
  const auto task = outlives.schedule_callback(normal, note("never"));
  other.reset();
  outlives.cancel_callback(task);
  EXPECT_FALSE(outlives.schedule_callback(normal, note("never")));
  EXPECT_EQ(outlives.current_priority_level(), normal);
}

TEST_F(CooperativeLifetime, values_when_they_are_none_then_refused) {
  EXPECT_THROW(scheduler.schedule_callback(static_cast<CooperativePriority>(0), [] {}),
               std::invalid_argument);
  EXPECT_THROW(scheduler.schedule_callback(static_cast<CooperativePriority>(6), [] {}),
               std::invalid_argument);
  EXPECT_THROW(scheduler.schedule_callback(normal, CooperativeCallback()), std::invalid_argument);
}

TEST_F(CooperativeLifetime, callables_when_empty_then_nothing_to_call) {
  using Pointer = void (*)();
  EXPECT_FALSE(CooperativeCallback(Pointer{}));
  EXPECT_FALSE(CooperativeCallback(std::function<void()>()));
  EXPECT_TRUE(CooperativeCallback(std::function<void()>([] {})));
  EXPECT_TRUE(CooperativeCallback([] {}));
  scheduler.schedule_callback(normal, [this] {
    trace.add("done");
    return std::function<void()>();
  });
  EXPECT_THAT(run(), ElementsAre("done"));
}

TEST_F(CooperativeLifetime, stealable_scheduler_when_named_then_refused_and_an_agents_is_not) {
  const AgentCluster cluster(AgentClusterOptions{.agents = 2});
  EXPECT_THROW(CooperativeScheduler{cluster.scheduler()}, NotAllowedError);
  const CooperativeScheduler on_agent(cluster.agent(0).scheduler());
  auto result = Promise<int>::with_resolver();
  on_agent.schedule_callback(low, [&result] { result.resolver.resolve(7); });
  EXPECT_EQ(result.promise.get(), 7);
}

TEST_F(CooperativeLifetime, several_schedulers_when_on_one_loop_then_each_has_its_slices) {
  const CooperativeScheduler other(loop.scheduler());
  schedule(idle, "first scheduler's");
  other.schedule_callback(user_blocking, note("second scheduler's"));
  EXPECT_THAT(run(), ElementsAre("first scheduler's", "second scheduler's"));
}

TEST_F(CooperativeLifetime, callbacks_when_large_then_called_and_destroyed) {
  const std::string long_text(200, 'x');
  scheduler.schedule_callback(normal, tracked([this, a = long_text, b = long_text] {
                                trace.add(std::to_string(a.size() + b.size()));
                              }));
  EXPECT_THAT(run(), ElementsAre("400"));
}

}  // namespace
}  // namespace heist::support
