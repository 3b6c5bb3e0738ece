// CLU-1, PRI-3 and ORD-5 broken by moves: between the exchange of the level and the ticket a queue is at no level.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

struct Signal {
  LiveLevel level{1};
  Cluster::Queue queue{level};
};

}  // namespace

/// The task was posted at level 1 before; it is raised, and is never below.
HEIST_MODEL_PROGRAM(broken_raise_hides_the_queue, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  CountedTask task;
  CountedTask low;
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low, 0);
  spawn([&] { cluster.set_level(signal.queue, signal.level, 2); });
  check(cluster.pick(0) == &task, "the task of level 1 or 2 comes before the one of level 0");
  join_all();
}

/// From 2 to 1: the one who lowers has not put the ticket yet.
HEIST_MODEL_PROGRAM(broken_lowering_hides_the_queue, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  signal.level.store(2, sync::relaxed);
  CountedTask task;
  CountedTask low;
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low, 0);
  spawn([&] { cluster.set_level(signal.queue, signal.level, 1); });
  check(cluster.pick(0) == &task, "the task of level 2 or 1 comes before the one of level 0");
  join_all();
}

/// The same from an agent's pick that begins after a raise has returned, while a second raise is under way.
HEIST_MODEL_PROGRAM(broken_second_raise_undoes_the_first, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  signal.level.store(0, sync::relaxed);
  CountedTask task;
  CountedTask low;
  sync::atomic<bool> raised{false};
  cluster.post(task, signal.queue);
  cluster.post_bound(0, low, 0);
  spawn([&] {
    cluster.set_level(signal.queue, signal.level, 1);
    raised.store(true, sync::release);
    cluster.set_level(signal.queue, signal.level, 2);
  });
  const bool was_raised = raised.load(sync::acquire);
  SpikeTask* picked = cluster.pick(0);
  if (was_raised) check(picked == &task, "it was raised above 0 before this pick");
  join_all();
}

/// The raise completes behind an agent's search, and the other agent removes the old ticket before it gets there.
HEIST_MODEL_PROGRAM(broken_raise_behind_two_searches, 3) {
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
  spawn([&] { cluster.set_level(signal.queue, signal.level, 2); });
  spawn([&] { pick(1); });
  pick(0);
  join_all();
}

/// An agent that has nothing else finds nothing: it would sleep, until the one who moves the queue goes on.
HEIST_MODEL_PROGRAM(broken_stopped_move_hides_the_queue, 1) {
  ModelClock clock;
  Cluster cluster(clock);
  Signal signal;
  CountedTask task;
  cluster.post(task, signal.queue);
  spawn([&] { cluster.set_level(signal.queue, signal.level, 2); });
  check(cluster.pick(0) == &task, "the agent finds the only task");
  join_all();
}

/// Posts that meet an agent between its look and its removal each leave one ticket more (SharedQueue's bound).
HEIST_MODEL_PROGRAM(broken_bound_of_tickets, 3) {
  ModelClock clock;
  TicketIndex<2, 1> index;
  LiveLevel level{0};
  SharedQueue<2> queue(level);
  std::array<CountedTask, 4> tasks;
  const auto post = [&](CountedTask& task) {
    queue.push(task);
    index.ensure_ticket(queue, 0);
  };
  post(tasks[0]);
  spawn([&] {
    for (std::size_t i = 1; i < 4; ++i) post(tasks[i]);
  });
  for (int i = 0; i < 3; ++i) static_cast<void>(index.take(0, 0));
  if (!join_all()) return;
  int tickets = 0;
  index.each_ticket(0, [&](void*) { ++tickets; });
  check(tickets <= 2, "one for the level, one for the only poster");
}

/// Who changes the level is in no epoch: a cell that comes back at its address makes a full queue look empty.
/// (The engine's heap never gives an address twice, so the cell is used again by hand.)
HEIST_MODEL_PROGRAM(broken_empty_outside_an_epoch, 2) {
  LinkedQueue<2> queue;
  auto* again = make_node<LinkedCell>(nullptr);
  auto* second = make_node<LinkedCell>(nullptr);
  auto* third = make_node<LinkedCell>(nullptr);
  std::array<LinkedCell*, 3> cells{again, second, third};
  LinkedQueue<2>::CellEpochs epochs;
  for (auto* cell : cells) queue.push(*cell);
  const LinkedQueue<2>::CellEpochs::Inside inside(epochs, 0);
  check(queue.pop(epochs, 0) == nullptr, "items are null here");  // head_ is `again`
  spawn([&] { check(!queue.empty(), "the third is there all the time"); });
  bool is_head = true;
  queue.each_word(
      [&](sync::atomic<LinkedCell*>& word) {  // takes the second; retires `again`, which is freed
        if (std::exchange(is_head, false)) word.store(second, sync::seq_cst);
      });
  again->newer.store(nullptr, sync::relaxed);
  queue.push(*again);
  join_all();
}
