// PRI-3 and ABT-2: one shared queue for each (cluster, signal, is continuation).
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

struct Signal {
  explicit Signal(Level level = 0) noexcept : queue(level) {}
  Cluster::Queue queue;
};

}  // namespace

/// After set_priority returned, no pick goes by the old level: two agents, a static task between the two levels.
HEIST_MODEL_PROGRAM(raise_against_two_picks, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  CountedTask task;
  std::array<CountedTask, 2> low;
  sync::atomic<bool> raised{false};
  sync::atomic<bool> taken{false};
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low[0], 1);
  cluster.post_bound(1, low[1], 1);
  const auto pick = [&](unsigned agent) {
    const bool was_raised = raised.load(sync::acquire);
    SpikeTask* picked = cluster.pick(agent);
    if (picked == &task) {
      check(!taken.exchange(true, sync::relaxed), "it is picked once");
    } else if (was_raised) {
      // The other agent has it, or is about to say so.
      check(signal.queue.empty(), "the raised one comes first");
    }
  };
  spawn([&] {
    cluster.set_level(signal.queue, 2);
    raised.store(true, sync::release);
  });
  spawn([&] { pick(1); });
  pick(0);
  join_all();
}

/// A task whose post overlaps the change is covered by whichever of the two returns later.
HEIST_MODEL_PROGRAM(raise_against_post, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  CountedTask task;
  CountedTask low;
  sync::atomic<int> returned{0};
  cluster.post_bound(0, low, 1);
  spawn([&] {
    cluster.post(task, signal.queue);
    returned.fetch_add(1, sync::acq_rel);
  });
  spawn([&] {
    cluster.set_level(signal.queue, 2);
    returned.fetch_add(1, sync::acq_rel);
  });
  const bool both = returned.load(sync::acquire) == 2;
  SpikeTask* picked = cluster.pick(0);
  if (both) check(picked == &task, "it was raised before this pick");
  if (!join_all()) return;
  if (picked != &task) check(cluster.pick(0) == &task, "it is not lost");
}

/// Lowered and raised again, while an agent removes tickets that have become stale.
HEIST_MODEL_PROGRAM(lower_and_raise_against_picks, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal(2);
  CountedTask task;
  CountedTask low;
  sync::atomic<bool> raised{false};
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low, 1);
  spawn([&] {
    cluster.set_level(signal.queue, 0);
    cluster.set_level(signal.queue, 2);
    raised.store(true, sync::release);
  });
  const bool was_raised = raised.load(sync::acquire);
  SpikeTask* picked = cluster.pick(0);
  if (was_raised) check(picked == &task, "the raised one comes first");
  if (!join_all()) return;
  if (picked != &task) check(cluster.pick(0) == &task, "it is not lost");
}

/// An agent finds the queue empty while tasks come: none stays without a ticket.
HEIST_MODEL_PROGRAM(post_against_empty_queue, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  std::array<CountedTask, 3> tasks;
  int picked = 0;
  cluster.post(tasks[0], signal.queue);
  spawn([&] { cluster.post(tasks[1], signal.queue); });
  spawn([&] { cluster.post(tasks[2], signal.queue); });
  for (int i = 0; i < 2; ++i) picked += cluster.pick(0) != nullptr ? 1 : 0;
  if (!join_all()) return;
  while (cluster.pick(1) != nullptr) ++picked;
  check(picked == 3, "every task is picked once");
}

/// When abort() has returned no task of the signal starts, those included whose post overlapped it.
HEIST_MODEL_PROGRAM(abort_against_two_agents_and_a_post, 1) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  SpikeSignal aborts;
  std::array<CountedTask, 2> tasks;
  sync::atomic<bool> aborted{false};
  check(aborts.add(tasks[0]), "not aborted yet");
  cluster.post(tasks[0], signal.queue);
  const auto run_one = [&](unsigned agent) {
    const bool was_aborted = aborted.load(sync::acquire);
    SpikeTask* task = cluster.pick(agent);
    if (task == nullptr || !task->leave_waiting(SpikeTask::Phase::started)) return;
    check(!was_aborted, "nothing starts after abort() has returned");
    task->run(*task);
  };
  spawn([&] {
    if (aborts.add(tasks[1])) cluster.post(tasks[1], signal.queue);
  });
  spawn([&] {
    aborts.abort();
    check(tasks[0].phase.load(sync::relaxed) != SpikeTask::Phase::waiting, "started, or aborted");
    aborted.store(true, sync::release);
  });
  spawn([&] { run_one(1); });
  run_one(0);
  if (!join_all()) return;
  check(tasks[0].runs <= 1 && tasks[1].runs <= 1, "each runs once at the most");
}
