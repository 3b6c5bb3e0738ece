// Tasks that are cancelled. Rule: COOP-6.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <thread>

#include "heist/cooperative/cooperative_task_node.hpp"
#include "support/cooperative_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using testing::ElementsAre;

class CooperativeCancel : public CooperativeFixture {};

TEST_F(CooperativeCancel, task_when_cancelled_before_it_runs_then_never_called) {
  const auto first = schedule(normal, "first");
  schedule(normal, "second");
  scheduler.cancel_callback(first);
  EXPECT_THAT(run(), ElementsAre("second"));
}

TEST_F(CooperativeCancel, callback_when_cancelled_on_the_loops_thread_then_destroyed_at_once) {
  loop.scheduler().post([this] {
    const auto task = scheduler.schedule_callback(idle, tracked([] {}));
    EXPECT_EQ(callbacks.alive(), 1);
    scheduler.cancel_callback(task);
    EXPECT_EQ(callbacks.alive(), 0);
  });
  run();
}

TEST_F(CooperativeCancel, callback_when_cancelled_elsewhere_then_destroyed_before_the_next_task) {
  const auto distant = scheduler.schedule_callback(idle, tracked([] {}), {.delay = 1h});
  run();
  std::thread([&] { scheduler.cancel_callback(distant); }).join();
  run();
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeCancel, callback_when_cancelled_elsewhere_amid_work_then_destroyed) {
  const auto distant = scheduler.schedule_callback(idle, tracked([] {}), {.delay = 1h});
  scheduler.schedule_callback(
      normal, [&] { std::thread([&] { scheduler.cancel_callback(distant); }).join(); });
  run();
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeCancel, delayed_task_when_cancelled_and_not_the_first_then_its_memory_goes) {
  schedule(normal, "first", 1ms);
  const auto is_only_ours = [](const CooperativeTask& task) {
    return Access::node(task)->shares.is_last();
  };
  const auto cancelled_elsewhere = schedule(normal, "never", 1h);
  scheduler.cancel_callback(cancelled_elsewhere);
  run();
  EXPECT_TRUE(is_only_ours(cancelled_elsewhere));
  loop.scheduler().post([&] {
    const auto cancelled_here = schedule(normal, "never", 1h);
    EXPECT_FALSE(is_only_ours(cancelled_here));
    scheduler.cancel_callback(cancelled_here);
    EXPECT_TRUE(is_only_ours(cancelled_here));
  });
  EXPECT_THAT(advance(1ms), ElementsAre("first"));
}

TEST_F(CooperativeCancel, callback_when_its_destructor_drops_the_handle_then_well) {
  auto task = std::make_shared<CooperativeTask>();
  loop.scheduler().post([this, &task] {
    schedule(normal, "first", 1ms);
    *task = scheduler.schedule_callback(
        normal, [last = AtDestruction([&task] { task.reset(); })] {}, {.delay = 1h});
    scheduler.cancel_callback(*task);
    EXPECT_EQ(task, nullptr);
  });
  EXPECT_THAT(advance(1ms), ElementsAre("first"));
}

TEST_F(CooperativeCancel, rest_when_cancelled_between_slices_then_never_called) {
  CooperativeTask task;
  task = scheduler.schedule_callback(normal, [this]() -> CooperativeCallback {
    trace.add("first");
    return note("rest");
  });
  loop.scheduler().post([&] { scheduler.cancel_callback(task); });
  EXPECT_THAT(run(), ElementsAre("first"));
}

TEST_F(CooperativeCancel, rest_when_the_task_cancels_itself_and_returns_it_then_called) {
  CooperativeTask task;
  task = scheduler.schedule_callback(normal, [&]() -> CooperativeCallback {
    scheduler.cancel_callback(task);
    return note("rest");
  });
  EXPECT_THAT(run(), ElementsAre("rest"));
}

TEST_F(CooperativeCancel, rest_when_another_thread_cancels_while_the_task_runs_then_never_called) {
  CooperativeTask task;
  task = scheduler.schedule_callback(normal, [&]() -> CooperativeCallback {
    std::thread([&] { scheduler.cancel_callback(task); }).join();
    schedule(normal, "takes what came");
    return note("rest");
  });
  EXPECT_THAT(run(), ElementsAre("takes what came"));
}

TEST_F(CooperativeCancel, task_when_done_then_cancelling_does_nothing) {
  const auto done = schedule(normal, "done");
  EXPECT_THAT(run(), ElementsAre("done"));
  scheduler.cancel_callback(done);
  scheduler.cancel_callback(done);
  scheduler.cancel_callback({});
  schedule(normal, "next");
  EXPECT_THAT(run(), ElementsAre("next"));
}

TEST_F(CooperativeCancel, task_of_another_scheduler_when_named_then_refused) {
  const CooperativeScheduler other(loop.scheduler());
  const auto task = schedule(normal, "runs");
  EXPECT_THROW(other.cancel_callback(task), std::invalid_argument);
  EXPECT_THAT(run(), ElementsAre("runs"));
}

TEST_F(CooperativeCancel, destructor_of_a_cancelled_callback_when_it_schedules_then_that_runs) {
  auto reacts = AtDestruction([this] { schedule(normal, "from the destructor"); });
  loop.scheduler().post([this, &reacts] {
    const auto task = scheduler.schedule_callback(normal, [moved = std::move(reacts)] {});
    scheduler.cancel_callback(task);
  });
  EXPECT_THAT(run(), ElementsAre("from the destructor"));
}

}  // namespace
}  // namespace heist::support
