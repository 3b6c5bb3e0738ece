// CLU-1: what an agent that picks again may find, after the hint was lowered.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

/// Two announcements of the same level with a post between them: the first must not lower for the second (versions).
HEIST_MODEL_PROGRAM(two_announcements_of_one_level, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  std::array<CountedTask, 3> low;
  CountedTask passed;
  Urgent urgent(cluster, 1);
  cluster.post(passed, 1);
  check(cluster.pick(0) == &passed, "it is there");
  cluster.post_bound(0, low[0], 0);
  cluster.post_bound(0, low[1], 0);
  cluster.post_bound(1, low[2], 0);
  const auto pick = [&](unsigned agent) {
    const bool was_posted = urgent.is_posted();
    SpikeTask* task = cluster.pick(agent);
    if (task != nullptr && task != &urgent.task) urgent.check_not_overtaken(0, was_posted);
  };
  spawn([&] { urgent.post(); });
  spawn([&] { pick(1); });
  pick(0);
  pick(0);
  join_all();
}

/// The hint is lowered while a thief carries a bin away: it is raised again before the thief starts anything.
HEIST_MODEL_PROGRAM(lowering_against_a_bin_in_transfer, 3) {
  ModelClock clock;
  Cluster cluster(clock);
  std::array<CountedTask, 3> low;
  std::array<CountedTask, 2> high;
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
    SpikeTask* task = cluster.pick(0);
    is_taken |= task == &high[1];
    if (has_started) check(is_taken, "the rest of the bin comes first");
  }
  join_all();
}
