// Rule: CLU-4. During a hot phase agents that run out of work stay awake.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <optional>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

class HotPhase : public ClusterOf {
 protected:
  /// They have nothing else to do then.
  void wake_all() {
    for (unsigned agent = 0; agent < size(); ++agent) bound(agent).post_task([] {}).get();
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, HotPhase, sizes, size_name);

TEST_P(HotPhase, hot_phase_while_it_lives_then_nobody_goes_to_sleep) {
  std::optional<AgentCluster::HotPhase> hot(std::in_place, cluster());
  wake_all();
  const auto before = cluster().stats().sleeps;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(settles(scheduler().post_task([] {})));
  EXPECT_EQ(cluster().stats().sleeps, before);
  hot.reset();
  EXPECT_TRUE(comes_true([&] { return cluster().stats().sleeps >= before + size(); }));
}

TEST_P(HotPhase, hot_phase_when_there_are_two_then_the_last_one_counts) {
  std::optional<AgentCluster::HotPhase> first(std::in_place, cluster());
  std::optional<AgentCluster::HotPhase> second(std::in_place, cluster());
  wake_all();
  first.reset();
  const auto before = cluster().stats().sleeps;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(settles(scheduler().post_task([] {})));
  EXPECT_EQ(cluster().stats().sleeps, before);
}

// Rule: LIF-1
TEST_P(HotPhase, close_when_draining_in_a_hot_phase_then_it_ends) {
  const auto hot = cluster().hot_phase();
  wake_all();
  const auto promise = scheduler().post_task([] { return 7; });
  cluster().close(CloseMode::drain());
  EXPECT_EQ(promise.get(), 7);
}

// Rule: LIF-1: its agents are awake, but look at the deadline.
TEST_P(HotPhase, close_when_draining_until_a_deadline_in_a_hot_phase_then_it_ends) {
  const auto hot = cluster().hot_phase();
  const auto promise = scheduler().post_task(tracked([] {}), {.delay = std::chrono::hours(1)});
  auto mode =
      CloseMode::drain_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
  mode.wait_for_delayed = true;
  cluster().close(mode);
  EXPECT_TRUE(settles(promise));
}

}  // namespace
}  // namespace heist::support
