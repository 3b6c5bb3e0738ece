// Tickets of shared queues: a set bit means a ticket.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

/// An agent takes the ticket away between the poster's push of it and its bit (SharedQueue's version).
HEIST_MODEL_PROGRAM(a_ticket_goes_before_its_bit, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Cluster::Queue queue(1);
  std::array<CountedTask, 2> tasks;
  int picked = 0;
  spawn([&] {
    for (auto& task : tasks) cluster.post(task, queue);
  });
  for (int i = 0; i < 2; ++i) picked += cluster.pick(0) != nullptr ? 1 : 0;
  if (!join_all()) return;
  while (cluster.pick(1) != nullptr) ++picked;
  check(picked == 2, "every task is picked once");
}

/// Two posters: who finds the bit set has returned, although the one who set it has not.
HEIST_MODEL_PROGRAM(a_bit_means_a_ticket, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Cluster::Queue queue(1);
  std::array<CountedTask, 2> tasks;
  CountedTask low;
  sync::atomic<bool> posted{false};
  cluster.post_bound(0, low, 0);
  spawn([&] { cluster.post(tasks[0], queue); });
  spawn([&] {
    cluster.post(tasks[1], queue);
    posted.store(true, sync::release);
  });
  const bool was_posted = posted.load(sync::acquire);
  SpikeTask* task = cluster.pick(0);
  if (was_posted) check(task != &low, "what was posted comes first");
  join_all();
}

/// After a signal was lowered its tasks no longer come before others (PRI-3): the old ticket is there still.
HEIST_MODEL_PROGRAM(lowered_tasks_come_later, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Cluster::Queue queue(2);
  CountedTask task;
  CountedTask middle;
  sync::atomic<bool> lowered{false};
  cluster.post(task, queue);
  cluster.post(middle, 1);
  spawn([&] {
    cluster.set_level(queue, 0);
    lowered.store(true, sync::release);
  });
  const bool was_lowered = lowered.load(sync::acquire);
  SpikeTask* picked = cluster.pick(0);
  if (was_lowered) check(picked == &middle, "the one of level 1 comes before the lowered one");
  join_all();
}
