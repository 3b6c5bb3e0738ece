// CLU-1, PRI-3 and ORD-5 while a queue moves: it is where it came from until it can be found where
// it goes.
#include <array>

#include "../cluster_queues.hpp"
#include "os/word_wait.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// The task was posted at level 1 before; it is raised, and is never below.
HEIST_MODEL_PROGRAM(a_raise_hides_nothing, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  CountedNode low;
  signal.post(cluster, task);
  cluster.post_bound(0, low, 0);
  spawn([&] { signal.set_level(cluster, 2); });
  check(cluster.pick(0) == &task, "the task of level 1 or 2 comes before the one of level 0");
  join_all();
}

/// From 2 to 1: the one who lowers has not put the ticket yet.
HEIST_MODEL_PROGRAM(a_lowering_hides_nothing, 2) {
  Cluster cluster;
  Signal signal(2);
  CountedNode task;
  CountedNode low;
  signal.post(cluster, task);
  cluster.post_bound(0, low, 0);
  spawn([&] { signal.set_level(cluster, 1); });
  check(cluster.pick(0) == &task, "the task of level 2 or 1 comes before the one of level 0");
  join_all();
}

/// The same from an agent's pick that begins after a raise has returned, while a second raise is
/// under way.
HEIST_MODEL_PROGRAM(a_second_raise_keeps_the_first, 2) {
  Cluster cluster;
  Signal signal(0);
  CountedNode task;
  CountedNode low;
  sync::atomic<bool> raised{false};
  signal.post(cluster, task);
  cluster.post_bound(0, low, 0);
  spawn([&] {
    signal.set_level(cluster, 1);
    raised.store(true, sync::release);
    signal.set_level(cluster, 2);
  });
  const bool was_raised = raised.load(sync::acquire);
  LoopNode* picked = cluster.pick(0);
  if (was_raised) check(picked == &task, "it was raised above 0 before this pick");
  join_all();
}

/// The raise completes behind an agent's search, and the other agent removes the old ticket before
/// it gets there.
HEIST_MODEL_PROGRAM(a_raise_behind_two_searches, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  std::array<CountedNode, 2> low;
  signal.post(cluster, task);
  for (unsigned agent = 0; agent < 2; ++agent) cluster.post_bound(agent, low[agent], 0);
  const auto pick = [&](unsigned agent) {
    if (cluster.pick(agent) != &task)
      check(QueueProbe::is_empty(signal.queue()), "the other agent has claimed it");
  };
  spawn([&] { signal.set_level(cluster, 2); });
  spawn([&] { pick(1); });
  pick(0);
  join_all();
}

/// One search: it comes to the new level too early, and to the old one too late, unless it counts
/// moves.
HEIST_MODEL_PROGRAM(a_raise_behind_a_search, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  signal.post(cluster, task);
  spawn([&] { signal.set_level(cluster, 2); });
  check(cluster.queues.search_above(0, 0) == &task, "it is at one level or the other");
  join_all();
}

/// An agent that has nothing else finds nothing: it would sleep, until the one who moves the queue
/// goes on.
HEIST_MODEL_PROGRAM(a_stopped_move_hides_nothing, 1) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  signal.post(cluster, task);
  spawn([&] { signal.set_level(cluster, 2); });
  check(cluster.pick(0) == &task, "the agent finds the only task");
  join_all();
}

/// Two re-prioritisers: when both have returned, the queue is where the last value says (PRI-3).
HEIST_MODEL_PROGRAM(the_last_of_two_levels_stays, 3) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  signal.post(cluster, task);
  spawn([&] { signal.set_level(cluster, 2); });
  spawn([&] { signal.set_level(cluster, 0); });
  if (!join_all()) return;
  check(signal.queue().level() == signal.level(), "the last value wins");
  CountedNode middle;
  cluster.post_bound(0, middle, 1);
  const bool is_first = signal.level() == 2;
  check((cluster.pick(0) == &task) == is_first, "picks go by the last value");
  if (!is_first) check(cluster.pick(0) == &task, "it is not lost");
}

/// The same for a pick that begins when both have returned, on an agent that looked meanwhile.
HEIST_MODEL_PROGRAM(two_levels_against_picks, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  std::array<CountedNode, 2> middle;
  sync::atomic<int> returned{0};
  signal.post(cluster, task);
  for (auto& bound : middle) cluster.post_bound(0, bound, 1);
  for (const int level : {2, 0}) {
    spawn([&, level] {
      signal.set_level(cluster, level);
      returned.fetch_add(1, sync::acq_rel);
    });
  }
  bool is_taken = false;
  for (int i = 0; i < 2; ++i) {
    const bool both = returned.load(sync::acquire) == 2;
    const bool is_mine = cluster.pick(0) == &task;
    if (both && !is_taken)
      check(is_mine == (signal.level() == 2), "the pick goes by the last value");
    is_taken |= is_mine;
  }
  if (!join_all()) return;
  while (!is_taken) {
    LoopNode* next = cluster.pick(0);
    check(next != nullptr, "it is not lost");
    is_taken = next == &task;
  }
}

/// A post during a move, which another move turns back where it came from; one that moves it is
/// stopped there: the task is found all the same (by run frozen), at a level that the queue has
/// had.
HEIST_MODEL_PROGRAM(post_against_a_move_and_back, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  sync::atomic<bool> posted{false};
  spawn([&] {
    signal.post(cluster, task);
    posted.store(true, sync::release);
  });
  spawn([&] { signal.set_level(cluster, 2); });
  spawn([&] { signal.set_level(cluster, 1); });
  const bool was_posted = posted.load(sync::acquire);
  LoopNode* picked = cluster.pick(0);
  if (was_posted) check(picked == &task, "what was posted is found");
  join_all();
}

/// The same to the end of all moves.
HEIST_MODEL_PROGRAM(no_post_is_lost_in_a_move, 2) {
  Cluster cluster;
  Signal signal(1);
  std::array<CountedNode, 2> tasks;
  signal.post(cluster, tasks[0]);
  spawn([&] { signal.post(cluster, tasks[1]); });
  spawn([&] { signal.set_level(cluster, 2); });
  spawn([&] { signal.set_level(cluster, 0); });
  if (LoopNode* task = cluster.pick(0)) run(*task);
  if (!join_all()) return;
  while (LoopNode* task = cluster.pick(1)) run(*task);
  for (const auto& task : tasks) check(task.runs == 1, "every task runs once");
}

/// It is posted between the steps of a raise, and the next move goes back to where the raise came
/// from: a ticket at the raise's level alone would no longer count, and the next move has not put
/// its own yet.
HEIST_BLOCKING_MODEL_PROGRAM(a_post_during_a_raise_that_is_taken_back, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  CountedNode low;
  sync::atomic<std::uint32_t> posted{0};
  cluster.post_bound(0, low, 0);
  spawn([&] { signal.set_level(cluster, 2); });
  spawn([&] {
    signal.post(cluster, task);
    posted.store(1, sync::release);
    wake_all_on_word(posted);
  });
  spawn([&] { signal.set_level(cluster, 1); });
  while (posted.load(sync::acquire) == 0) wait_on_word(posted, 0, {});
  check(cluster.pick(0) == &task, "the task of level 1 or 2 comes before the one of level 0");
  join_all();
}
