// Rule: LIF-1: several closes of a cluster, and what they report.
#include <heist/agent_cluster.hpp>

#include "cluster/cluster_fixture.hpp"
#include "support/close_modes.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class ClusterHurry : public ClusterOf {
 protected:
  void TearDown() override {
    if (closer.joinable()) closer.join();
    ClusterOf::TearDown();
  }
  /// Returns once a close with this mode has begun.
  void close_elsewhere(const CloseMode& mode) {
    closer = std::thread([this, mode] {
      report = cluster().close(mode);
      has_returned.open();
    });
    ASSERT_TRUE(comes_true(
        [this] { return !scheduler().post([] {}, {.priority = background}) || (++taken, false); }));
  }

  CloseReport report;
  std::uint64_t taken = 0;
  test::Gate has_returned;
  std::thread closer;
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterHurry, sizes, size_name);

// It waited for the first one, whatever its own deadline was.
TEST_P(ClusterHurry, close_when_another_one_drains_then_it_keeps_its_own_deadline) {
  HeldAgents held(cluster());
  close_elsewhere(CloseMode::drain());
  const auto second = test::close_in_time(cluster(), CloseMode::drain_until(Clock::now() + 20ms),
                                          [&held] { held.let_go(); });
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->still_running, size());
  EXPECT_EQ(sum_of(*second), size() + taken);
  EXPECT_TRUE(has_returned.opens());  // hurried
}

TEST_P(ClusterHurry, close_when_one_waits_for_a_far_delay_and_a_later_one_aborts_then_both_end) {
  scheduler().post(tracked([] {}), {.delay = 1h});
  bound(0).post(tracked([] {}), {.delay = 1h});
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  close_elsewhere(mode);
  EXPECT_GE(cluster().close(CloseMode::abort()).aborted, 2U);
  EXPECT_TRUE(has_returned.opens());
}

// Fifty, of which as many begin as there are agents.
TEST_P(ClusterHurry, close_when_tasks_outlast_the_deadline_then_what_has_not_begun_is_counted) {
  HeldAgents held(cluster());
  for (unsigned i = 0; i < 50; ++i) {
    PostTaskOptions options;
    if (i % 7 == 0) options.delay = 1h;
    (i % 3 == 0 ? bound(i % size()) : scheduler()).post(tracked([] {}), options);
  }
  const CloseReport first = cluster().close(support::deadline_is_now());
  EXPECT_EQ(first.ran, 0U);
  EXPECT_EQ(first.still_running, size());
  EXPECT_EQ(first.aborted + first.not_started, 50U);
  held.let_go();
  EXPECT_EQ(cluster().close(CloseMode::drain()), (CloseReport{.ran = size(), .aborted = 50}));
}

// A property: each task that was taken is told of once, also those that tasks have posted.
TEST_P(ClusterHurry, close_when_at_any_time_then_in_the_end_all_that_was_posted_is_told_of) {
  for (int round = 0; round < 20; ++round) {
    AgentCluster closing({.agents = size()});
    HeldAgents held(closing);
    std::atomic<std::uint64_t> accepted{size()};
    for (unsigned i = 0; i < 60; ++i) {
      const auto to = i % 3 == 0 ? closing.agent(i % size()).scheduler() : closing.scheduler();
      PostTaskOptions options{.priority = static_cast<TaskPriority>(i % 3)};
      if (i % 5 == 0) options.delay = std::chrono::microseconds(20 * i);
      const auto post_one = [to, &accepted] { accepted += to.post([] {}) ? 1U : 0U; };
      accepted += to.post(post_one, options) ? 1U : 0U;
    }
    std::thread opener([&] {
      while (closing.scheduler().post([] {}, {.priority = background})) ++accepted;
      held.let_go();
    });
    auto mode = CloseMode::drain_until(Clock::now() + std::chrono::microseconds(100 * round));
    mode.wait_for_delayed = round % 2 == 0;
    closing.close(mode);
    opener.join();
    const CloseReport last = closing.close(CloseMode::drain());
    EXPECT_EQ(sum_of(last), accepted.load()) << "round " << round;
    EXPECT_EQ(last.not_started + last.still_running, 0U);
  }
}

// The reserve's last words take long: a close waits for them no longer than it says.
TEST(ClusterHurryReserve, close_when_a_reserve_ends_slowly_then_it_keeps_its_deadline) {
  test::Gate ends;
  test::Gate may_end;
  AgentClusterOptions options{.agents = 2, .reserves = 1, .reserve_idle = 1ms};
  options.on_stop = [&](unsigned agent) {
    if (agent != 2) return;
    ends.open();
    may_end.wait();
  };
  AgentCluster cluster(options);
  cluster.agent(0).scheduler().post_task([] { blocking([] {}); }).get();
  ends.wait();
  const auto report = test::close_in_time(cluster, CloseMode::drain_until(Clock::now() + 5ms),
                                          [&may_end] { may_end.open(); });
  EXPECT_TRUE(report.has_value());
  if (!may_end.is_open()) may_end.open();
}

}  // namespace
}  // namespace heist::support
