#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <stdexcept>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

/// A cluster of two agents that measures each task.
class ClusterMetricsTest : public ClusterFixture {
 protected:
  void start_measuring() {
    AgentClusterOptions options{.agents = 2};
    options.loop.sample_every = 1;
    start(std::move(options));
  }
  [[nodiscard]] LevelMetrics level(TaskPriority priority, bool is_continuation = false) {
    return cluster().metrics().levels.of(priority, is_continuation);
  }
};

// Rule: MET-1
TEST_F(ClusterMetricsTest,
       metrics_when_tasks_wait_in_bins_rings_and_signals_queues_then_all_count) {
  start_measuring();
  TaskController controller(background);
  HeldAgents held(cluster());
  constexpr int few = 3;
  for (int i = 0; i < few; ++i) {
    scheduler().post([] {}, {.priority = background});
    scheduler().post([] {}, {.signal = controller.signal()});
  }
  EXPECT_EQ(level(background).waiting, 2U * few);
  controller.set_priority(user_visible);
  EXPECT_EQ(level(background).waiting, 1U * few) << "they count where they are now";
  EXPECT_EQ(level(user_visible).waiting, 1U * few);
  EXPECT_TRUE(level(background).oldest_waiting);
  held.let_go();
  cluster().close(CloseMode::drain());
  EXPECT_EQ(level(background).run, 1U * few);
  EXPECT_EQ(level(user_visible).run, 1U * few);
  EXPECT_EQ(level(background).waiting + level(user_visible).waiting, 0U);
  EXPECT_FALSE(level(background).oldest_waiting);
}

// Rule: MET-1
TEST_F(ClusterMetricsTest, metrics_when_a_task_posts_others_then_they_wait_in_its_agents_ring) {
  start_measuring();
  Countdown posted(1);
  test::Gate gate;
  HeldAgents held(cluster());
  scheduler().post(
      [&] {
        for (int i = 0; i < 5; ++i) scheduler().post([] {}, {.priority = background});
        posted.done();
        gate.wait();
      },
      {.priority = user_visible});
  held.let_go(0);
  ASSERT_TRUE(posted.ends());
  EXPECT_EQ(level(background).waiting, 5U);
  gate.open();
  held.let_go();
  cluster().close(CloseMode::drain());
}

// Rule: MET-1
TEST_F(ClusterMetricsTest, metrics_when_waiting_tasks_are_aborted_then_they_do_not_run) {
  start_measuring();
  AbortController controller;
  TaskController moving;
  {
    HeldAgents held(cluster());
    scheduler().post([] {}, {.signal = controller.signal()});
    scheduler().post([] {}, {.signal = moving.signal()});
    controller.abort();
    moving.abort();
  }
  cluster().close(CloseMode::drain());
  EXPECT_EQ(level(user_visible).aborted, 2U);
  EXPECT_EQ(level(user_visible).run, 0U);
  EXPECT_EQ(level(user_visible).waiting, 0U);
}

// Rule: MET-1
TEST_F(ClusterMetricsTest, metrics_when_so_many_are_aborted_that_bins_are_swept_then_all_count) {
  start_measuring();
  AbortController controller;
  constexpr unsigned tasks = 10'000;
  {
    HeldAgents held(cluster());
    for (unsigned i = 0; i < tasks; ++i) scheduler().post([] {}, {.signal = controller.signal()});
    controller.abort();
  }
  cluster().close(CloseMode::drain());
  EXPECT_EQ(level(user_visible).aborted, tasks);
  EXPECT_EQ(level(user_visible).posted, tasks);
  EXPECT_EQ(level(user_visible).waiting, 0U);
}

// Rule: MET-1
TEST_F(ClusterMetricsTest, metrics_when_cluster_is_closed_then_what_it_dropped_is_rejected) {
  start_measuring();
  auto held = std::make_optional<HeldAgents>(cluster());
  for (int i = 0; i < 4; ++i) scheduler().post([] {});
  scheduler().post([] {}, {.delay = 1h});
  ASSERT_TRUE(comes_true([this] { return level(user_visible).waiting == 4; }));
  std::thread closer([this] { cluster().close(CloseMode::abort()); });
  ASSERT_TRUE(comes_true([this] { return cluster().metrics().rejected == 5; }));
  held.reset();
  closer.join();
  EXPECT_EQ(level(user_visible).rejected, 4U);
  EXPECT_EQ(level(user_visible).waiting, 0U);
  EXPECT_EQ(level(user_visible).run, 0U);
}

// Rule: MET-2
TEST_F(ClusterMetricsTest, wait_time_when_all_agents_are_busy_then_as_long_as_that) {
  start_measuring();
  constexpr auto at_least = 2ms;
  {
    HeldAgents held(cluster());
    scheduler().post([] {}, {.priority = background});
    const auto enough = [&] { return level(background).oldest_waiting >= at_least; };
    ASSERT_TRUE(comes_true(enough));
  }
  cluster().close(CloseMode::drain());
  const LevelMetrics measured = level(background);
  EXPECT_EQ(measured.wait_time.count(), 1U);
  EXPECT_GE(measured.wait_time.sum(), at_least);
  EXPECT_EQ(measured.run_time.count(), 1U);
}

// Rule: MET-3
TEST_F(ClusterMetricsTest, set_sampling_when_zero_then_agents_measure_nothing_either) {
  start_measuring();
  cluster().set_sampling(0);
  ASSERT_TRUE(settles(scheduler().post_task([] {})));
  ASSERT_TRUE(settles(cluster().agent(1).scheduler().post_task([] {})));
  EXPECT_EQ(level(user_visible).wait_time.count(), 0U);
  EXPECT_THROW(cluster().set_sampling(5), std::invalid_argument);
}

// Rule: MET-1
TEST_F(ClusterMetricsTest, metrics_when_agents_have_run_tasks_then_the_levels_are_their_sum) {
  start_measuring();
  for (int i = 0; i < 1000; ++i) scheduler().post([] {}, {.priority = background});
  cluster().agent(0).scheduler().post([] {}, {.priority = background});
  cluster().close(CloseMode::drain());
  const ClusterMetrics metrics = cluster().metrics();
  std::uint64_t by_agents = 0;
  for (const LoopMetrics& agent : metrics.agents) by_agents += agent.levels.of(background).run;
  EXPECT_EQ(by_agents, 1001U);
  EXPECT_EQ(metrics.levels.of(background).run, 1001U);
  EXPECT_EQ(metrics.levels.of(background).posted, 1001U);
  EXPECT_EQ(metrics.tasks_run, 1001U);
}

// Rule: MET-5
TEST_F(ClusterMetricsTest, busy_share_when_reserve_has_no_thread_then_zero) {
  start_measuring();
  const ClusterMetrics metrics = cluster().metrics();
  ASSERT_EQ(metrics.agents.size(), 4U);
  EXPECT_LT(metrics.agents.back().busy_share(), 0.5);
}

// Rule: MET-5
TEST_F(ClusterMetricsTest, timer_lateness_when_delayed_task_has_run_then_measured) {
  start_measuring();
  ASSERT_TRUE(settles(scheduler().post_task([] {}, {.delay = 1ms})));
  EXPECT_EQ(cluster().metrics().timer_lateness.count(), 1U);
}

}  // namespace
}  // namespace heist::support
