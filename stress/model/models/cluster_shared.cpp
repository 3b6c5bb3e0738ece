// PRI-3 in a cluster: one shared queue for each (signal, is continuation), and the tickets that
// name it.
#include <array>
#include <memory>

#include "../cluster_queues.hpp"
#include "../out_of_memory.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// After set_priority returned, no pick goes by the old level: two agents, a static task between
/// the two levels.
HEIST_MODEL_PROGRAM(raise_against_two_picks, 2) {
  Cluster cluster;
  Signal signal(0);
  CountedNode task;
  std::array<CountedNode, 2> low;
  sync::atomic<bool> raised{false};
  sync::atomic<bool> taken{false};
  signal.post(cluster, task);
  cluster.post_bound(0, low[0], 1);
  cluster.post_bound(1, low[1], 1);
  const auto pick = [&](unsigned agent) {
    const bool was_raised = raised.load(sync::acquire);
    LoopNode* picked = cluster.pick(agent);
    if (picked == &task) {
      check(!taken.exchange(true, sync::relaxed), "it is picked once");
    } else if (was_raised) {
      // The other agent has it, or is about to say so.
      check(QueueProbe::is_empty(signal.queue()), "the raised one comes first");
    }
  };
  spawn([&] {
    signal.set_level(cluster, 2);
    raised.store(true, sync::release);
  });
  spawn([&] { pick(1); });
  pick(0);
  join_all();
}

/// A task whose post overlaps the change is covered by whichever of the two returns later.
HEIST_MODEL_PROGRAM(raise_against_post, 2) {
  Cluster cluster;
  Signal signal(0);
  CountedNode task;
  CountedNode low;
  sync::atomic<int> returned{0};
  cluster.post_bound(0, low, 1);
  spawn([&] {
    signal.post(cluster, task);
    returned.fetch_add(1, sync::acq_rel);
  });
  spawn([&] {
    signal.set_level(cluster, 2);
    returned.fetch_add(1, sync::acq_rel);
  });
  const bool both = returned.load(sync::acquire) == 2;
  LoopNode* picked = cluster.pick(0);
  if (both) check(picked == &task, "it was raised before this pick");
  if (!join_all()) return;
  if (picked != &task) check(cluster.pick(0) == &task, "it is not lost");
}

/// Lowered and raised again, while an agent removes tickets that have become stale.
HEIST_MODEL_PROGRAM(lower_and_raise_against_picks, 2) {
  Cluster cluster;
  Signal signal(2);
  CountedNode task;
  CountedNode low;
  sync::atomic<bool> raised{false};
  signal.post(cluster, task);
  cluster.post_bound(0, low, 1);
  spawn([&] {
    signal.set_level(cluster, 0);
    signal.set_level(cluster, 2);
    raised.store(true, sync::release);
  });
  const bool was_raised = raised.load(sync::acquire);
  LoopNode* picked = cluster.pick(0);
  if (was_raised) check(picked == &task, "the raised one comes first");
  if (!join_all()) return;
  if (picked != &task) check(cluster.pick(0) == &task, "it is not lost");
}

/// An agent finds the queue empty while tasks come: none stays without a ticket.
HEIST_MODEL_PROGRAM(post_against_empty_queue, 2) {
  Cluster cluster;
  Signal signal(0);
  std::array<CountedNode, 3> tasks;
  int picked = 0;
  signal.post(cluster, tasks[0]);
  spawn([&] { signal.post(cluster, tasks[1]); });
  spawn([&] { signal.post(cluster, tasks[2]); });
  for (int i = 0; i < 2; ++i) picked += cluster.pick(0) != nullptr ? 1 : 0;
  if (!join_all()) return;
  while (cluster.pick(1) != nullptr) ++picked;
  check(picked == 3, "every task is picked once");
}

/// An agent takes the ticket away between the poster's push of it and its bit (SignalQueue's
/// version).
HEIST_MODEL_PROGRAM(a_ticket_goes_before_its_bit, 2) {
  Cluster cluster;
  Signal signal(1);
  std::array<CountedNode, 2> tasks;
  int picked = 0;
  spawn([&] {
    for (auto& task : tasks) signal.post(cluster, task);
  });
  for (int i = 0; i < 2; ++i) picked += cluster.pick(0) != nullptr ? 1 : 0;
  if (!join_all()) return;
  while (cluster.pick(1) != nullptr) ++picked;
  check(picked == 2, "every task is picked once");
}

/// Two posters: who finds the bit set has returned, although the one who set it has not.
HEIST_MODEL_PROGRAM(a_bit_means_a_ticket, 2) {
  Cluster cluster;
  Signal signal(1);
  std::array<CountedNode, 2> tasks;
  CountedNode low;
  sync::atomic<bool> posted{false};
  cluster.post_bound(0, low, 0);
  spawn([&] { signal.post(cluster, tasks[0]); });
  spawn([&] {
    signal.post(cluster, tasks[1]);
    posted.store(true, sync::release);
  });
  const bool was_posted = posted.load(sync::acquire);
  LoopNode* task = cluster.pick(0);
  if (was_posted) check(task != &low, "what was posted comes first");
  join_all();
}

/// After a signal was lowered its tasks no longer come before others (PRI-3): the old ticket is
/// there still.
HEIST_MODEL_PROGRAM(lowered_tasks_come_later, 2) {
  Cluster cluster;
  Signal signal(2);
  CountedNode task;
  CountedNode middle;
  sync::atomic<bool> lowered{false};
  signal.post(cluster, task);
  cluster.post(middle, 1);
  spawn([&] {
    signal.set_level(cluster, 0);
    lowered.store(true, sync::release);
  });
  const bool was_lowered = lowered.load(sync::acquire);
  LoopNode* picked = cluster.pick(0);
  if (was_lowered) check(picked == &middle, "the one of level 1 comes before the lowered one");
  join_all();
}

/// The signal goes while its task is queued, picked, and its ticket cleared away: the tickets hold
/// the pair.
HEIST_MODEL_PROGRAM(a_pair_outlives_its_signal, 2) {
  Cluster cluster;
  auto signal = std::make_unique<Signal>(1);
  CountedNode task;
  int picked = 0;
  spawn([&] {
    signal->post(cluster, task);
    signal.reset();
  });
  spawn([&] {
    for (int i = 0; i < 2; ++i) picked += cluster.pick(1) != nullptr ? 1 : 0;
  });
  if (cluster.pick(0) == &task) run(task);
  if (!join_all()) return;
  while (cluster.pick(0) == &task) run(task);
  check(task.runs + picked == 1, "it is picked once");
}

/// Memory has run out for who posts: the ticket is in its cell's.
HEIST_MODEL_PROGRAM(a_ticket_without_memory, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  spawn([&] {
    auto* cell = make_node<SignalQueueEntry>(task, signal.pair(), signal.queue());
    const OutOfMemory scope;
    cluster.queues.post(*cell);
    cell->drop();
  });
  if (LoopNode* picked = cluster.pick(0)) run(*picked);
  if (!join_all()) return;
  if (LoopNode* picked = cluster.pick(0)) run(*picked);
  check(task.runs == 1, "it is picked once");
}

/// A post and a move without memory, where agents take tickets away: both tickets of the cell may
/// be needed.
HEIST_MODEL_PROGRAM(a_move_without_memory, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  signal.pair().reserve();
  spawn([&] {
    auto* cell = make_node<SignalQueueEntry>(task, signal.pair(), signal.queue());
    const OutOfMemory scope;
    cluster.queues.post(*cell);
    cell->drop();
  });
  spawn([&] {
    const OutOfMemory scope;
    signal.set_level(cluster, 0);
  });
  if (LoopNode* picked = cluster.pick(0)) run(*picked);
  if (!join_all()) return;
  if (LoopNode* picked = cluster.pick(0)) run(*picked);
  check(task.runs == 1, "it is picked once");
}

/// Two moves have kept memory for one ticket: who gets none looks again whether it needs one.
HEIST_MODEL_PROGRAM(two_moves_and_spare_memory, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  signal.post(cluster, task);
  for (int level = 0; level < 3; level += 2) {
    spawn([&, level] {
      signal.pair().reserve();
      const OutOfMemory scope(1);
      signal.set_level(cluster, level);
    });
  }
  if (!join_all()) return;
  while (LoopNode* picked = cluster.pick(0)) run(*picked);
  check(task.runs == 1, "it runs once");
}

/// Threads give and take spare memory: each goes to one.
HEIST_MODEL_PROGRAM(spare_memory_goes_to_one, 2) {
  const auto pair = Ref<SignalQueues>::adopt(make_node<SignalQueues>(0, 1));
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      TicketCell* ticket = nullptr;
      {
        const OutOfMemory scope;
        ticket = pair->make_ticket(pair->queue(false));
      }
      pair->reserve();
      if (ticket == nullptr) return;
      ticket->end();  // as the queue
      ticket->end();  // as the poster of the next one
    });
  }
  join_all();
}
