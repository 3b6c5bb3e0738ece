// Rules: SEC-1, LIF-5, of stealable tasks.
#include <algorithm>
#include <heist/bounded_scheduler.hpp>
#include <heist/yield.hpp>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class ClusterLimits : public ClusterOf {
 protected:
  /// What was posted, on one agent, in the order in which it starts.
  std::vector<std::string> run_all(HeldAgents& held) {
    auto last = scheduler().with_ceiling(background).post_task([] {});
    held.let_go(0);
    EXPECT_TRUE(settles(last));
    return trace.take();
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterLimits, sizes, size_name);

TEST_P(ClusterLimits, set_priority_when_some_tasks_have_a_ceiling_then_only_the_others_rise) {
  HeldAgents held(cluster());
  TaskController controller(background);
  const Scheduler middle = scheduler().with_ceiling(user_visible);
  middle.post(note("middle"), {.signal = controller.signal()});
  scheduler().post(note("free"), {.signal = controller.signal()});
  scheduler().post(note("visible"));
  scheduler().post(note("blocking"), {.priority = user_blocking});
  controller.set_priority(user_blocking);
  auto order = run_all(held);
  ASSERT_EQ(order.size(), 4U);
  std::sort(order.begin(), order.begin() + 2);
  std::sort(order.begin() + 2, order.end());
  EXPECT_THAT(order, ElementsAre("blocking", "free", "middle", "visible"));
}

TEST_P(ClusterLimits, yield_when_of_a_scheduler_with_a_ceiling_then_it_holds) {
  HeldAgents held(cluster());
  const Scheduler low = scheduler().with_ceiling(background);
  TaskController urgent(user_blocking);
  auto promise = low.post_task([&]() -> Promise<void> {
    scheduler().post(note("visible"));
    co_await yield({urgent.signal()});
    trace.add("low");
  });
  held.let_go(0);
  ASSERT_TRUE(settles(promise));
  EXPECT_THAT(trace.take(), ElementsAre("visible", "low"));
}

TEST_P(ClusterLimits, abort_when_tasks_have_a_ceiling_then_they_go) {
  HeldAgents held(cluster());
  TaskController controller;
  std::vector<Promise<void>> promises;
  for (const auto ceiling : {background, user_visible, user_blocking}) {
    promises.push_back(scheduler().with_ceiling(ceiling).post_task(
        note("never"), {.signal = controller.signal()}));
  }
  controller.abort();
  held.let_go();
  for (const auto& promise : promises) {
    ASSERT_TRUE(settles(promise));
    EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  }
}

TEST_P(ClusterLimits, close_when_tasks_of_a_suspended_ceiling_wait_then_they_reject) {
  const Scheduler low = scheduler().with_ceiling(background);
  low.suspend();
  auto promise = low.post_task(note("never"));
  auto delayed = low.post_task(note("never"), {.delay = std::chrono::hours(1)});
  ASSERT_TRUE(settles(scheduler().post_task([] {}, {.priority = background})));
  cluster().close(CloseMode::abort());
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(delayed.status(), PromiseStatus::rejected);
}

TEST_P(ClusterLimits, room_when_many_tasks_wait_for_it_then_all_run_within_the_bound) {
  constexpr int tasks = 300;
  const BoundedScheduler bounded(scheduler(), 4);
  Countdown left(tasks);
  std::vector<Promise<void>> line;
  line.reserve(tasks);
  for (int i = 0; i < tasks; ++i) {
    line.push_back(scheduler().post_task([&]() -> Promise<void> {
      auto room = co_await bounded.room();
      bounded.post(std::move(room), tracked([&] { left.done(); }));
    }));
  }
  for (const auto& promise : line) EXPECT_TRUE(settles(promise));
  EXPECT_TRUE(left.ends());
  // All places are free again.
  auto rooms = {bounded.room(), bounded.room(), bounded.room(), bounded.room()};
  for (const auto& room : rooms) EXPECT_EQ(room.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(bounded.post([] {}), PostResult::full);
}

}  // namespace
}  // namespace heist::support
