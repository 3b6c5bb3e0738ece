// CLU-1, PRI-3 and ORD-5 while a queue moves: it is where it came from until it can be found where it goes.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

struct Signal {
  explicit Signal(Level level = 1) noexcept : queue(level) {}
  Cluster::Queue queue;
};

}  // namespace

/// The task was posted at level 1 before; it is raised, and is never below.
HEIST_MODEL_PROGRAM(a_raise_hides_nothing, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  CountedTask task;
  CountedTask low;
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low, 0);
  spawn([&] { cluster.set_level(signal.queue, 2); });
  check(cluster.pick(0) == &task, "the task of level 1 or 2 comes before the one of level 0");
  join_all();
}

/// From 2 to 1: the one who lowers has not put the ticket yet.
HEIST_MODEL_PROGRAM(a_lowering_hides_nothing, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal(2);
  CountedTask task;
  CountedTask low;
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low, 0);
  spawn([&] { cluster.set_level(signal.queue, 1); });
  check(cluster.pick(0) == &task, "the task of level 2 or 1 comes before the one of level 0");
  join_all();
}

/// The same from an agent's pick that begins after a raise has returned, while a second raise is under way.
HEIST_MODEL_PROGRAM(a_second_raise_keeps_the_first, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal(0);
  CountedTask task;
  CountedTask low;
  sync::atomic<bool> raised{false};
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low, 0);
  spawn([&] {
    cluster.set_level(signal.queue, 1);
    raised.store(true, sync::release);
    cluster.set_level(signal.queue, 2);
  });
  const bool was_raised = raised.load(sync::acquire);
  SpikeTask* picked = cluster.pick(0);
  if (was_raised) check(picked == &task, "it was raised above 0 before this pick");
  join_all();
}

/// The raise completes behind an agent's search, and the other agent removes the old ticket before it gets there.
HEIST_MODEL_PROGRAM(a_raise_behind_two_searches, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  CountedTask task;
  std::array<CountedTask, 2> low;
  cluster.post(task, signal.queue);
  for (unsigned agent = 0; agent < 2; ++agent) cluster.post_bound(agent, low[agent], 0);
  const auto pick = [&](unsigned agent) {
    if (cluster.pick(agent) != &task) check(signal.queue.empty(), "the other agent has claimed it");
  };
  spawn([&] { cluster.set_level(signal.queue, 2); });
  spawn([&] { pick(1); });
  pick(0);
  join_all();
}

/// An agent that has nothing else finds nothing: it would sleep, until the one who moves the queue goes on.
HEIST_MODEL_PROGRAM(a_stopped_move_hides_nothing, 1) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  CountedTask task;
  cluster.post(task, signal.queue);
  spawn([&] { cluster.set_level(signal.queue, 2); });
  check(cluster.pick(0) == &task, "the agent finds the only task");
  join_all();
}
