// Rule: CLU-1, CLU-2, CLU-3. Clusters whose agents stand in groups.
#include <sched.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "heist/cluster/queues/cluster_queues.hpp"
#include "heist/os/thread.hpp"

namespace heist::support {

using namespace detail;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::SizeIs;

/// Notes whom a wake-up would look for first.
struct NotedWakeUps {
  void notify(unsigned near) noexcept { last = near; }
  unsigned last = 0;
};

struct NumberedNode : LoopNode {
  NumberedNode() noexcept : LoopNode(table) {}
  std::size_t number = 0;

 private:
  static constexpr LoopNodeOps table{LoopNodeKind::task, nullptr, nullptr};
};

/// The queues of four agents in two groups, and tasks of one level.
class GroupedQueues : public testing::Test {
 protected:
  static constexpr int level = 2;
  static constexpr unsigned near = 1;  ///< an agent of the first group
  static constexpr unsigned far = 3;   ///< one of the second

  GroupedQueues() {
    for (std::size_t number = 0; number < nodes_.size(); ++number) nodes_[number].number = number;
  }
  /// Posts tasks near an agent. Returns the number of the first one.
  std::size_t post(std::size_t count, unsigned agent) {
    const std::size_t first = posted_;
    for (; posted_ < first + count; ++posted_) queues_.post(nodes_.at(posted_), level, agent);
    return first;
  }
  /// The number of the task that the agent takes.
  std::size_t take(unsigned agent) {
    LoopNode* node = queues_.pick(agent, -1);
    if (node == nullptr) throw std::logic_error("nothing is queued");
    return static_cast<NumberedNode*>(node)->number;
  }

  /// Puts tasks into the ring of an agent.
  void post_from(unsigned agent, int count) {
    for (; count > 0; --count) queues_.post_from(agent, nodes_.at(posted_++), level);
  }

  using Queues = ClusterQueues<ClusterSizes{}, NotedWakeUps>;
  Queues& queues() { return queues_; }
  [[nodiscard]] unsigned woken_near() const { return wake_ups_.last; }
  NumberedNode& node(std::size_t number) { return nodes_.at(number); }

 private:
  NotedWakeUps wake_ups_;
  Queues queues_{6, 4, AgentGroups({2, 2}), wake_ups_};  // and a reserve
  std::array<NumberedNode, 4000> nodes_;
  std::size_t posted_ = 0;
};

TEST_F(GroupedQueues, pick_when_both_groups_have_tasks_then_the_own_one_first) {
  const auto far_task = post(1, far);
  const auto near_task = post(1, near);
  EXPECT_EQ(take(near), near_task);
  EXPECT_EQ(take(near), far_task);
}

TEST_F(GroupedQueues, pick_when_the_other_group_has_a_higher_level_then_that_first) {
  post(1, near);
  queues().post(node(1), level + 2, far);
  EXPECT_EQ(take(near), 1U);
}

TEST_F(GroupedQueues, pick_when_the_own_group_never_runs_dry_then_the_other_one_has_its_turn) {
  const auto far_task = post(1, far);
  post(3000, near);
  std::size_t takes = 1;
  while (take(near) != far_task) ++takes;
  // It takes a bin of each group at least once in eight bins for each group.
  EXPECT_LE(takes, 2 * 8 * ClusterSizes{}.bin + 1);
}

TEST_F(GroupedQueues, steal_when_both_groups_have_tasks_then_in_the_own_one) {
  queues().post_from(0, node(0), level);
  queues().post_from(2, node(1), level);
  EXPECT_EQ(take(3), 1U);
  EXPECT_EQ(take(3), 0U);
}

TEST_F(GroupedQueues, steal_when_the_own_group_never_runs_dry_then_the_others_have_their_turn) {
  for (const unsigned busy : {far, 4U}) {  // an agent of the other group; a reserve
    NumberedNode waiting;
    waiting.number = 10'000;
    queues().post_from(busy, waiting, level);
    post_from(1, 2);  // which posts a task for each that the first one takes
    std::size_t takes = 0;
    for (auto taken = take(0); taken != waiting.number && takes < 10'000; taken = take(0)) {
      queues().post_from(1, node(taken), level);
      ++takes;
    }
    EXPECT_LT(takes, 10'000U) << "agent " << busy;
    while (queues().pick(0, -1) != nullptr) {
    }
  }
}

/// The bins of one group never run dry: of the taker's own one, or of the other one. The task that
/// waits longest is in the other group's.
class FloodedQueues : public GroupedQueues, public testing::WithParamInterface<bool> {
 protected:
  const unsigned flooded = GetParam() ? near : far;
  const unsigned other = GetParam() ? far : near;
};

TEST_P(FloodedQueues, take_late_when_its_ring_is_full_then_the_bins_of_groups_take_turns) {
  LongestWaits waits{};
  waits[level / 2] = 1;
  queues().keep_stamps(waits);
  for (std::size_t number = 0; number < 3900; ++number) node(number).key = 10 + number;
  post(2000, flooded);
  const auto take_late = [&] {
    LoopNode* taken = queues().take_late(near, waits, 1'000'000, 1'000'000);
    return taken != nullptr ? static_cast<NumberedNode*>(taken)->number : 10'000;
  };
  for (int i = 0; i < 300; ++i) static_cast<void>(take_late());  // its ring has been filled
  NumberedNode oldest;
  oldest.number = 5000;
  oldest.key = 1;
  queues().post(oldest, level, other);
  int takes = 1;
  for (; take_late() != oldest.number && takes < 1500; ++takes) post(1, flooded);
  // It comes into the ring with the second bin that is moved, and waits for what is there.
  EXPECT_LE(takes, int{ClusterSizes{}.ring} + 2 * int{ClusterSizes{}.bin});
}

INSTANTIATE_TEST_SUITE_P(BothWays, FloodedQueues, testing::Bool());

TEST_F(GroupedQueues, post_when_near_an_agent_then_wakes_near_it) {
  for (const unsigned agent : {near, far}) {
    post(1, agent);
    EXPECT_EQ(woken_near(), agent);
    queues().post_from(agent, node(3500 + agent), level);
    EXPECT_EQ(woken_near(), agent);
  }
}

TEST_F(GroupedQueues, drain_when_both_groups_have_tasks_then_all_of_them) {
  post(3, near);
  post(3, far);
  std::size_t drained = 0;
  queues().drain(5, [&](LoopNode&, int /*level*/) { ++drained; });
  EXPECT_EQ(drained, 6U);
  EXPECT_FALSE(queues().has_tasks(near));
}

TEST_F(GroupedQueues, sweep_when_both_groups_have_dead_tasks_then_all_of_them) {
  post(100, near);
  post(100, far);
  SweepPlace at;
  std::size_t dropped = 0;
  while (
      queues().sweep(near, at, 1, [](LoopNode&) { return true; }, [&](LoopNode&) { ++dropped; })) {
  }
  EXPECT_EQ(dropped, 200U);
}

TEST(IdleAgentsOfGroups, notify_when_all_sleep_then_the_first_from_there_on_and_reserves_last) {
  IdleAgents idle(72, 70);
  for (const unsigned agent : {0U, 1U, 3U, 4U, 66U, 69U, 70U, 71U}) {
    idle.begin_search();
    idle.announce(agent);
  }
  std::vector<unsigned> woken;
  for (const unsigned near : {3U, 3U, 66U, 69U, 69U, 66U, 66U, 0U}) {
    woken.push_back(*idle.notify(near));
    static_cast<void>(idle.end_search());
  }
  EXPECT_THAT(woken, ElementsAre(3, 4, 66, 69, 0, 1, 70, 71));
}

/// Whether groups of one CPU each can be told apart here.
[[nodiscard]] bool has_two_cpus() { return CpuSet().cpus().size() > 1; }

/// The CPUs that this thread may use, twice if there is one only: two groups of one.
[[nodiscard]] Topology two_groups() {
  const auto cpus = CpuSet().cpus();
  return {{cpus.front()}, {cpus.back()}};
}

class ClusterOfGroups : public ClusterFixture {
 protected:
  /// The CPUs on which each member may run.
  [[nodiscard]] std::vector<std::vector<unsigned>> cpus_of_agents(AgentClusterOptions options) {
    std::vector<std::vector<unsigned>> cpus(options.agents);
    options.on_start = [&](unsigned index) { cpus.at(index) = CpuSet().cpus(); };
    start(std::move(options));
    return cpus;
  }
};

TEST_F(ClusterOfGroups, agents_when_groups_then_on_their_cpus) {
  if (!has_two_cpus()) GTEST_SKIP() << "there is only one CPU";
  const auto groups = two_groups();
  EXPECT_THAT(cpus_of_agents({.agents = 4, .topology = groups}),
              ElementsAre(groups[0], groups[0], groups[1], groups[1]));
}

TEST_F(ClusterOfGroups, agents_when_pinned_then_each_on_one_cpu_of_its_group) {
  const Topology groups{CpuSet().cpus()};
  for (const auto& cpus : cpus_of_agents({.agents = 3, .pin = true, .topology = groups})) {
    EXPECT_THAT(cpus, SizeIs(1));
    EXPECT_THAT(cpus, IsSubsetOf(groups[0]));
  }
}

TEST_F(ClusterOfGroups, reserve_when_groups_then_runs_anywhere) {
  if (!has_two_cpus()) GTEST_SKIP() << "there is only one CPU";
  const auto all = CpuSet().cpus();
  const auto groups = two_groups();
  std::vector<unsigned> cpus;
  start({.agents = 2, .topology = groups, .on_start = [&](unsigned index) {
           if (index >= 2) cpus = CpuSet().cpus();
         }});
  HeldAgents held(cluster());
  held.let_go(0);
  test::Gate started;
  bound(0).post([&] {
    blocking([&] {
      scheduler().post([&] { started.open(); });
      started.wait();
    });
  });
  started.wait();
  held.let_go();
  end();
  EXPECT_EQ(cpus, all);
}

TEST_F(ClusterOfGroups, tasks_when_the_nearest_group_is_busy_then_the_other_one_runs_them) {
  start({.agents = 2, .topology = two_groups()});
  for (const unsigned free : {0U, 1U}) {
    HeldAgents held(cluster());
    held.let_go(free);
    EXPECT_TRUE(settles(scheduler().post_task([] {})));
  }
}

TEST_F(ClusterOfGroups, urgent_task_when_posted_near_another_group_then_first) {
  start({.agents = 2, .topology = two_groups()});
  std::vector<int> order;  // one agent runs them all
  std::optional<HeldAgents> held(std::in_place, cluster());
  std::vector<Promise<void>> ends;
  const auto post = [&](TaskPriority priority, int number) {
    ends.push_back(scheduler().post_task([&order, number] { order.push_back(number); },
                                         {.priority = priority}));
  };
  const auto groups = two_groups();
  std::thread([&] {
    CpuSet(groups[0]).use();
    post(TaskPriority::background, 2);
    CpuSet(groups[1]).use();
    post(TaskPriority::user_blocking, 0);
    post(TaskPriority::user_visible, 1);
  }).join();
  held->let_go(0);
  for (const auto& end : ends) EXPECT_TRUE(settles(end));
  held.reset();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(ClusterOfGroups, constructor_when_a_group_has_no_usable_cpu_then_refused_by_its_number) {
  const unsigned nowhere = CpuSet().cpus().back() + 1;
  for (const auto& cpus : {std::vector<unsigned>{}, std::vector<unsigned>{nowhere}}) {
    auto groups = two_groups();
    groups.push_back(cpus);
    EXPECT_THAT([&] { start({.agents = 3, .topology = groups}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    HasSubstr("topology: group 2 has no CPU that the calling thread may use")));
  }
}

}  // namespace
}  // namespace heist::support
