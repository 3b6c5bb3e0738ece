// CLU-1: no agent starts a task while a runnable stealable task of a higher level stays unclaimed.
#include <array>

#include "../cluster_queues.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

using LowCluster = BasicCluster<two_levels>;

/// One pick of an agent that has a bound task of level 0.
void pick_once(LowCluster& cluster, unsigned agent, Urgent<LowCluster>& urgent) {
  const bool was_posted = urgent.is_posted();
  const Operation operation("pick stealable tasks");
  LoopNode* task = cluster.pick(agent);
  if (task == &urgent.task || task == nullptr) return;
  urgent.check_not_overtaken(0, was_posted);
}

/// The hint says `level`, although nothing is there any more.
template <class Where>
void leave_hint_high(Where& cluster, CountedNode& passed, int level = 1) {
  cluster.post(passed, level);
  check(cluster.pick(0) == &passed, "it is there");
}

}  // namespace

/// Two agents are about to lower the hint while a task comes that is above it.
HEIST_MODEL_PROGRAM(urgent_post_against_lowering, 3) {
  LowCluster cluster;
  std::array<CountedNode, 2> low;
  CountedNode passed;
  Urgent urgent(cluster, 1);
  leave_hint_high(cluster, passed);
  cluster.post_bound(0, low[0], 0);
  cluster.post_bound(1, low[1], 0);
  spawn([&] { urgent.post(); });
  spawn([&] { pick_once(cluster, 1, urgent); });
  pick_once(cluster, 0, urgent);
  join_all();
}

/// The same with an agent that posts from inside, to its own ring.
HEIST_MODEL_PROGRAM(urgent_own_post_against_lowering, 3) {
  Cluster cluster;
  CountedNode low;
  CountedNode passed;
  CountedNode urgent;
  sync::atomic<bool> posted{false};
  leave_hint_high(cluster, passed);
  cluster.post_bound(0, low, 0);
  spawn([&] {
    cluster.queues.post_from(1, urgent, 1);
    posted.store(true, sync::release);
  });
  const bool was_posted = posted.load(sync::acquire);
  LoopNode* task = cluster.pick(0);
  if (was_posted) check(task == &urgent, "the urgent one comes first");
  join_all();
}

/// An agent that has nothing lowers the hint to nothing, while tasks come: each is found by the
/// pick behind its post.
HEIST_MODEL_PROGRAM(post_against_lowering_to_nothing, 2) {
  LowCluster cluster;
  CountedNode passed;
  CountedNode task;
  sync::atomic<bool> posted{false};
  sync::atomic<bool> taken{false};
  leave_hint_high(cluster, passed);
  const auto look = [&](unsigned agent) {
    const bool was_posted = posted.load(sync::acquire);
    const bool is_mine = cluster.pick(agent) == &task;
    if (is_mine) check(!taken.exchange(true, sync::relaxed), "it is picked once");
    return is_mine || !was_posted;
  };
  spawn([&] {
    cluster.post(task, 0);
    posted.store(true, sync::release);
  });
  spawn([&] { static_cast<void>(look(1)); });
  const bool is_fine = look(0);
  if (!join_all()) return;
  check(is_fine || taken.load(sync::relaxed), "an agent finds it, or the other one has");
  if (taken.load(sync::relaxed)) return;
  check(cluster.queues.may_have_tasks(), "a sleeper's look at the hint says so");
  check(cluster.pick(0) == &task, "it is not lost");
}

/// Three posters, two agents, every task runs once.
HEIST_MODEL_PROGRAM(three_posters_two_agents, 0) {
  Cluster cluster;
  std::array<CountedNode, 2> low;
  std::array<CountedNode, 2> tasks;
  Urgent urgent(cluster, 2);
  for (unsigned agent = 0; agent < 2; ++agent) cluster.post_bound(agent, low[agent], 0);
  spawn([&] { urgent.post(); });
  for (auto& task : tasks) spawn([&] { cluster.post(task, 1); });
  const auto run_two = [&](unsigned agent) {
    for (int i = 0; i < 2; ++i) {
      const bool was_posted = urgent.is_posted();
      LoopNode* task = cluster.pick(agent);
      if (task == nullptr) continue;
      const bool is_low = task == &low[agent];
      urgent.check_not_overtaken(task == &urgent.task ? 2 : is_low ? 0 : 1, was_posted);
      run(*task);
    }
  };
  spawn([&] { run_two(1); });
  run_two(0);
  if (!join_all()) return;
  for (int i = 0; i < 2; ++i) {
    run_two(0);
    run_two(1);
  }
  for (auto& task : tasks) check(task.runs == 1, "every task runs once");
  check(urgent.task.runs == 1 && low[0].runs == 1 && low[1].runs == 1, "every task runs once");
}

/// A thief carries a bin away: what it does not start itself is published before it starts
/// anything.
HEIST_MODEL_PROGRAM(a_bin_in_transfer, 2) {
  Cluster cluster;
  std::array<CountedNode, 2> low;
  std::array<CountedNode, 2> high;
  sync::atomic<bool> started{false};
  for (unsigned agent = 0; agent < 2; ++agent) cluster.post_bound(agent, low[agent], 0);
  for (auto& task : high) cluster.post(task, 1);
  spawn([&] {
    if (cluster.pick(1) == &high[0]) started.store(true, sync::release);
  });
  const bool has_started = started.load(sync::acquire);
  LoopNode* task = cluster.pick(0);
  if (has_started) check(task == &high[1], "the rest of the bin comes first");
  join_all();
}

namespace {

/// A ring from which a thief takes two at once.
constexpr ClusterSizes wide{.bins = 2, .bin = 2, .ring = 5, .others_turn = 61, .levels = 2};

}  // namespace

/// The same with what a thief took from the other agent's ring.
HEIST_MODEL_PROGRAM(loot_in_transfer, 2) {
  NoSleepers nobody;
  ClusterQueues<wide, NoSleepers> queues(2, nobody);
  std::array<CountedNode, 3> high;
  sync::atomic<int> stolen{0};
  for (auto& task : high) queues.post_from(1, task, 1);
  spawn([&] {
    if (queues.pick(0, -1) != nullptr) stolen.store(1, sync::release);
  });
  int picked = 0;
  for (int i = 0; i < 3; ++i) {
    const int started = stolen.load(sync::acquire);
    if (queues.pick(1, 0) != nullptr) {
      ++picked;
    } else if (started == 1) {
      check(picked == 2, "what the thief did not start comes before a bound task of level 0");
    }
  }
  join_all();
}

namespace {

/// Lowers the hint to `level` as pick() does. False: a task above came up.
template <class Where>
bool lower(Where& cluster, unsigned agent, int level) {
  auto& hint = QueueProbe::hint(cluster.queues);
  const auto announced = hint.announce(level);
  if (cluster.queues.search_above(agent, level) != nullptr) return false;
  hint.lower(announced, level);
  return true;
}

}  // namespace

/// Two announcements of the same level with a post between them: the first must not lower for the
/// second (versions).
HEIST_MODEL_PROGRAM(two_announcements_of_one_level, 2) {
  LowCluster cluster;
  CountedNode low;
  CountedNode passed;
  Urgent urgent(cluster, 1);
  leave_hint_high(cluster, passed);
  cluster.post_bound(0, low, 0);
  spawn([&] { urgent.post(); });
  spawn([&] { static_cast<void>(lower(cluster, 1, 0)); });
  if (lower(cluster, 0, 0)) pick_once(cluster, 0, urgent);
  join_all();
}

/// The hint is lowered while a thief carries a bin away: it is raised again before the thief starts
/// anything.
HEIST_MODEL_PROGRAM(lowering_against_a_bin_in_transfer, 3) {
  Cluster cluster;
  std::array<CountedNode, 3> low;
  std::array<CountedNode, 2> high;
  sync::atomic<bool> started{false};
  cluster.post_bound(0, low[0], 0);
  cluster.post_bound(0, low[1], 0);
  cluster.post_bound(1, low[2], 0);
  for (auto& task : high) cluster.post(task, 1);
  spawn([&] {
    if (cluster.pick(1) == &high[0]) started.store(true, sync::release);
  });
  bool is_taken = false;
  for (int i = 0; i < 2; ++i) {
    const bool has_started = started.load(sync::acquire);
    LoopNode* task = cluster.pick(0);
    is_taken |= task == &high[1];
    if (has_started) check(is_taken, "the rest of the bin comes first");
  }
  join_all();
}

/// An agent does not lower the hint by what another one announced. Agent 1 announces level 0; agent
/// 0 gets that from announce(1), and has searched above level 1 only.
HEIST_MODEL_PROGRAM(a_foreign_announcement, 2) {
  Cluster cluster;
  CountedNode low;
  CountedNode passed;
  Urgent urgent(cluster, 1);
  leave_hint_high(cluster, passed, 2);
  cluster.post_bound(0, low, 0);
  spawn([&] { urgent.post(); });
  spawn([&] { static_cast<void>(lower(cluster, 1, 0)); });
  static_cast<void>(lower(cluster, 0, 1));
  static_cast<void>(lower(cluster, 0, 1));
  const bool was_posted = urgent.is_posted();
  LoopNode* task = cluster.pick(0);
  if (task == &low) urgent.check_not_overtaken(0, was_posted);
  join_all();
}

/// The mistaken protocol: lowers the hint, then searches once more. A test runs it and expects that
/// it fails.
HEIST_MODEL_PROGRAM(naive_lowering, 3) {
  LowCluster cluster;
  CountedNode passed;
  Urgent urgent(cluster, 1);
  leave_hint_high(cluster, passed);
  const auto pick = [&](unsigned agent) {
    const bool was_posted = urgent.is_posted();
    if (QueueProbe::hint(cluster.queues).level() > 0) {
      if (cluster.queues.search_above(agent, 0) != nullptr) return;
      auto& hint = QueueProbe::hint(cluster.queues);
      hint.lower(hint.announce(0), 0);
      if (cluster.queues.search_above(agent, 0) != nullptr) return;
    }
    urgent.check_not_overtaken(0, was_posted);  // starts a task of its own
  };
  spawn([&] { urgent.post(); });
  spawn([&] { pick(1); });
  pick(0);
  join_all();
}
