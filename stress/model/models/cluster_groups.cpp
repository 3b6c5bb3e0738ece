// Agents in groups with bins of their own: a task is found by agents of all groups (CLU-1, CLU-3).
#include <array>
#include <vector>

#include "../cluster_queues.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// Two groups of one agent each.
AgentGroups two_groups() { return AgentGroups(std::vector<unsigned>{1, 1}); }

using GroupedCluster = BasicCluster<two_levels>;

}  // namespace

/// An agent is about to lower the hint while a task comes to the other group that is above it.
HEIST_MODEL_PROGRAM(urgent_post_to_another_group_against_lowering, 3) {
  GroupedCluster cluster(two_groups());
  cluster.posts_near = 1;
  CountedNode low;
  CountedNode passed;
  Urgent urgent(cluster, 1);
  cluster.post(passed, 1);
  check(cluster.pick(0) == &passed, "it is there, and the hint stays");
  cluster.post_bound(0, low, 0);
  spawn([&] { urgent.post(); });
  const bool was_posted = urgent.is_posted();
  LoopNode* task = cluster.pick(0);
  if (task != &urgent.task) urgent.check_not_overtaken(0, was_posted);
  join_all();
}

/// An agent goes to sleep while a task comes to the other group.
HEIST_MODEL_PROGRAM(post_to_another_group_against_sleep, 3) {
  TwoIdleAgents sleepers;
  ClusterQueues<two_levels, TwoIdleAgents> queues(2, 2, two_groups(), sleepers);
  CountedNode task;
  bool sleeps = false;
  spawn([&] {
    sleepers.idle.begin_search();
    sleepers.idle.announce(0);
    sleeps = !queues.has_tasks(0);
  });
  queues.post(task, 1, 1);
  if (join_all()) check(!sleeps || sleepers.woken == 1, "nobody sleeps on it");
}

/// Both agents look at the bins of both groups, each at its own first, while tasks come to both.
HEIST_MODEL_PROGRAM(tasks_of_two_groups_leave_once, 2) {
  GroupedCluster cluster(two_groups());
  std::array<CountedNode, 2> tasks;
  Taken<2> taken;
  spawn([&] {
    for (unsigned near : {0U, 1U}) cluster.queues.post(tasks[near], 1, near);
  });
  const auto take_some = [&](unsigned agent) {
    for (int i = 0; i < 2; ++i) {
      if (LoopNode* task = cluster.pick(agent)) taken.add(tasks, task);
    }
  };
  spawn([&] { take_some(1); });
  take_some(0);
  if (!join_all()) return;
  while (LoopNode* task = cluster.pick(0)) taken.add(tasks, task);
  taken.check_once();
}
