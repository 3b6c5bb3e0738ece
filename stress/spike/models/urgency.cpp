// CLU-1: no agent starts a task while a runnable stealable task of a higher level stays unclaimed.
#include <array>

#include "support.hpp"

namespace heist::spike {
namespace {

/// One pick of an agent that has a bound task of level 0.
void pick_once(Cluster& cluster, unsigned agent, Urgent& urgent) {
  const bool was_posted = urgent.is_posted();
  SpikeTask* task = cluster.pick(agent);
  if (task == &urgent.task || task == nullptr) return;
  urgent.check_not_overtaken(0, was_posted);
}

/// The hint says level 1, although nothing is there any more.
void leave_hint_high(Cluster& cluster, CountedTask& passed) {
  cluster.post(passed, 1);
  check(cluster.pick(0) == &passed, "it is there");
}

}  // namespace
}  // namespace heist::spike

using namespace heist::spike;
using namespace heist;

/// Two agents are about to lower the hint while a task comes that is above it.
HEIST_MODEL_PROGRAM(urgent_post_against_lowering, 3) {
  ModelClock clock;
  Cluster cluster(clock);
  std::array<CountedTask, 3> low;
  CountedTask passed;
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
  ModelClock clock;
  Cluster cluster(clock);
  CountedTask low;
  CountedTask passed;
  CountedTask urgent;
  sync::atomic<bool> posted{false};
  leave_hint_high(cluster, passed);
  cluster.post_bound(0, low, 0);
  spawn([&] {
    cluster.post_from(1, urgent, 1);
    posted.store(true, sync::release);
  });
  const bool was_posted = posted.load(sync::acquire);
  SpikeTask* task = cluster.pick(0);
  if (was_posted) check(task == &urgent, "the urgent one comes first");
  join_all();
}

/// Three posters, two agents, every task runs once.
HEIST_MODEL_PROGRAM(three_posters_two_agents, 0) {
  ModelClock clock;
  Cluster cluster(clock);
  std::array<CountedTask, 2> low;
  std::array<CountedTask, 2> tasks;
  Urgent urgent(cluster, 2);
  for (unsigned agent = 0; agent < 2; ++agent) cluster.post_bound(agent, low[agent], 0);
  spawn([&] { urgent.post(); });
  for (auto& task : tasks) spawn([&] { cluster.post(task, 1); });
  const auto run_two = [&](unsigned agent) {
    for (int i = 0; i < 2; ++i) {
      const bool was_posted = urgent.is_posted();
      SpikeTask* task = cluster.pick(agent);
      if (task == nullptr) continue;
      const bool is_low = task == &low[agent];
      urgent.check_not_overtaken(task == &urgent.task ? 2 : is_low ? 0 : 1, was_posted);
      if (task->leave_waiting(SpikeTask::Phase::started)) task->run(*task);
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

/// A thief carries a bin away: what it does not start itself is published before it starts anything.
HEIST_MODEL_PROGRAM(a_bin_in_transfer, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  std::array<CountedTask, 2> low;
  std::array<CountedTask, 2> high;
  sync::atomic<bool> started{false};
  for (unsigned agent = 0; agent < 2; ++agent) cluster.post_bound(agent, low[agent], 0);
  for (auto& task : high) cluster.post(task, 1);
  spawn([&] {
    if (cluster.pick(1) == &high[0]) started.store(true, sync::release);
  });
  const bool has_started = started.load(sync::acquire);
  SpikeTask* task = cluster.pick(0);
  if (has_started) check(task == &high[1], "the rest of the bin comes first");
  join_all();
}

/// The mistaken protocol: lowers the hint, then searches once more. A test runs it and expects that it fails.
HEIST_MODEL_PROGRAM(naive_lowering, 3) {
  ModelClock clock;
  Cluster cluster(clock);
  CountedTask passed;
  Urgent urgent(cluster, 1);
  leave_hint_high(cluster, passed);
  const auto pick = [&](unsigned agent) {
    const bool was_posted = urgent.is_posted();
    if (cluster.hint().level() > 0) {
      if (cluster.search_above(agent, 0) != nullptr) return;
      cluster.hint().lower_unannounced(0);
      if (cluster.search_above(agent, 0) != nullptr) return;
    }
    urgent.check_not_overtaken(0, was_posted);  // starts a task of its own
  };
  spawn([&] { urgent.post(); });
  spawn([&] { pick(1); });
  pick(0);
  join_all();
}
