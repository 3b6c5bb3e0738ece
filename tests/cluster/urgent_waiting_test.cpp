// Rule: YLD-7. What a task of a cluster finds more urgent than itself.
#include <chrono>
#include <heist/yield_if_urgent.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class ClusterUrgentWaiting : public ClusterFixture, public testing::WithParamInterface<unsigned> {
 protected:
  /// All agents but the first are busy until the end.
  void SetUp() override {
    start(GetParam());
    held_.emplace(cluster());
    held_->let_go(0);
  }
  void TearDown() override {
    held_.reset();
    ClusterFixture::TearDown();
  }

  /// Runs it as a user-visible task of the first agent.
  template <class Body>
  void on_first(Body body) {
    bound(0).post_task(std::move(body)).get();
  }
  /// Lets the first agent run everything. Returns what has run, in order.
  std::vector<std::string> run() {
    bound(0).post_task([] {}, {.priority = TaskPriority::background}).get();
    return trace.take();
  }
  void post_elsewhere(const Scheduler& to, std::string label, TaskPriority priority) {
    on_thread([&] { to.post(note(std::move(label)), {.priority = priority}); });
  }

 private:
  std::optional<HeldAgents> held_;
};

TEST_P(ClusterUrgentWaiting, urgent_waiting_when_stealable_or_bound_tasks_come_then_true_if_above) {
  for (const Scheduler& to : {scheduler(), bound(0)}) {
    on_first([&] {
      post_elsewhere(to, "visible", TaskPriority::user_visible);
      EXPECT_FALSE(urgent_waiting());
      post_elsewhere(to, "blocking", TaskPriority::user_blocking);
      EXPECT_TRUE(urgent_waiting());
    });
    EXPECT_THAT(run(), ElementsAre("blocking", "visible"));
  }
}

TEST_P(ClusterUrgentWaiting, yield_if_urgent_when_a_stealable_task_is_above_then_it_goes_first) {
  on_first([&]() -> Promise<void> {
    post_elsewhere(scheduler(), "blocking", TaskPriority::user_blocking);
    post_elsewhere(scheduler(), "visible", TaskPriority::user_visible);
    co_await yield_if_urgent();
    trace.add("goes on");
  });
  EXPECT_THAT(run(), ElementsAre("blocking", "goes on", "visible"));
}

TEST_P(ClusterUrgentWaiting, yield_if_urgent_when_a_delay_of_the_cluster_ends_then_it_goes_first) {
  bool ran = false;
  on_first([&]() -> Promise<void> {
    co_await yield_if_urgent();
    const PostTaskOptions options{.priority = TaskPriority::user_blocking, .delay = 1ms};
    on_thread([&] { scheduler().post([&] { ran = true; }, options); });
    const auto end = std::chrono::steady_clock::now() + test::patience;
    while (!ran && std::chrono::steady_clock::now() < end) co_await yield_if_urgent();
  });
  EXPECT_TRUE(ran);
}

TEST_P(ClusterUrgentWaiting, urgent_waiting_when_waiting_tasks_are_raised_then_true) {
  TaskController controller(TaskPriority::background);
  on_first([&] {
    const PostTaskOptions options{.signal = controller.signal()};
    on_thread([&] { scheduler().post(note("raised"), options); });
    EXPECT_FALSE(urgent_waiting());
    on_thread([&] { controller.set_priority(TaskPriority::user_blocking); });
    EXPECT_TRUE(urgent_waiting());
  });
  EXPECT_THAT(run(), ElementsAre("raised"));
}

TEST_P(ClusterUrgentWaiting, urgent_waiting_when_the_task_is_lowered_then_what_waits_is_above) {
  TaskController controller;
  const auto lowers = [&] {
    post_elsewhere(scheduler(), "visible", TaskPriority::user_visible);
    EXPECT_FALSE(urgent_waiting());
    on_thread([&] { controller.set_priority(TaskPriority::background); });
    EXPECT_TRUE(urgent_waiting());
  };
  bound(0).post_task(lowers, {.signal = controller.signal()}).get();
  EXPECT_THAT(run(), ElementsAre("visible"));
}

TEST_P(ClusterUrgentWaiting, get_when_nothing_more_urgent_was_found_before_then_the_agent_waits) {
  auto answer = later<int>();
  auto waits = bound(0).post_task([&] {
    EXPECT_FALSE(urgent_waiting());
    return answer.promise.get();
  });
  answer.resolve(1);
  EXPECT_EQ(waits.get(), 1);
}

INSTANTIATE_TEST_SUITE_P(Agents, ClusterUrgentWaiting, sizes, size_name);

}  // namespace
}  // namespace heist::support
