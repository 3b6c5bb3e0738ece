// WAIT in a cluster: an agent that looks for late tasks takes exactly what it has seen, or nothing.
#include <array>
#include <chrono>

#include "../cluster.hpp"
#include "../cluster_queues.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;
using std::chrono::milliseconds;

namespace {

/// Background tasks may wait for so long; their stamps are their keys.
constexpr LongestWaits waits{5, 0, 0};
constexpr std::uint64_t no_limit = ~std::uint64_t{0};

/// The queues of two agents, in which late tasks are looked for.
struct GuardedCluster : Cluster {
  GuardedCluster() { queues.keep_stamps(waits); }

  [[nodiscard]] LoopNode* take_late(unsigned agent, std::uint64_t now) noexcept {
    const Operation operation("pick a late task");
    LoopNode* task = queues.take_late(agent, waits, now, no_limit);
    if (task != nullptr) check(task->key + waits[0] <= now, "never before its maximum");
    return task;
  }
};

/// A signal's task with a stamp.
void post(GuardedCluster& cluster, Signal& signal, LoopNode& task, std::uint64_t stamp) {
  task.key = stamp;
  auto& cell = *make_node<SignalQueueEntry>(task, signal.pair(), signal.queue());
  cell.stamp = stamp;
  cluster.queues.post(cell);
  cell.drop();
}

}  // namespace

/// The ring goes round while another agent takes its first task by what it has seen there.
HEIST_MODEL_PROGRAM(late_first_of_a_ring_against_owner, 3) {
  StealableRing<2, 0> ring;
  ring.keep_stamps();
  std::array<CountedNode, 4> tasks;
  Taken<4> taken;
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].key = i + 1;
  spawn([&] {
    for (int i = 0; i < 2; ++i) {
      const auto front = ring.front();
      if (!front) continue;
      LoopNode* task = ring.claim(*front);
      if (task == nullptr) continue;
      check(task->key == front->stamp, "it is the one that was seen");
      taken.add(tasks, task);
    }
  });
  for (auto& task : tasks) {
    while (!ring.push(task)) {
      if (LoopNode* own = ring.claim_one()) taken.add(tasks, own);
    }
  }
  if (!join_all()) return;
  while (LoopNode* rest = ring.claim_one()) taken.add(tasks, rest);
  taken.check_once();
}

/// One agent takes what is late while the other one, which has it in its ring, picks, and posts
/// younger ones.
HEIST_MODEL_PROGRAM(late_pick_against_pick, 2) {
  GuardedCluster cluster;
  std::array<CountedNode, 3> tasks;
  Taken<3> taken;
  const auto add = [&](LoopNode* task) {
    if (task != nullptr) taken.add(tasks, task);
  };
  const auto post_own = [&](std::size_t index, std::uint64_t stamp) {
    tasks[index].key = stamp;
    cluster.queues.post_from(0, tasks[index], 0);
  };
  post_own(0, 1);
  spawn([&] { add(cluster.take_late(1, 10)); });
  add(cluster.pick(0));
  post_own(1, 8);
  add(cluster.pick(0));
  post_own(2, 9);
  if (!join_all()) return;
  while (LoopNode* rest = cluster.pick(0)) add(rest);
  taken.check_once();
}

/// Two agents look at once, each of which takes over what is in the bins.
HEIST_MODEL_PROGRAM(late_picks_against_posts, 2) {
  GuardedCluster cluster;
  std::array<CountedNode, 2> tasks;
  Taken<2> taken;
  const auto look = [&](unsigned agent) {
    LoopNode* task = cluster.take_late(agent, 10);
    if (task != nullptr) taken.add(tasks, task);
    return task != nullptr;
  };
  for (std::size_t index = 0; index < tasks.size(); ++index) {
    spawn([&, index] {
      tasks[index].key = index;
      cluster.queues.post(tasks[index], 0);
    });
  }
  spawn([&] { look(1); });
  look(0);
  if (!join_all()) return;
  while (look(0)) {
  }
  taken.check_once();
}

/// What was posted before an agent looks, and nobody else takes, it takes: from outside, and of a
/// signal.
HEIST_MODEL_PROGRAM(late_pick_sees_what_was_posted, 2) {
  GuardedCluster cluster;
  Signal signal(0);
  std::array<CountedNode, 2> tasks;
  std::array<sync::atomic<bool>, 2> posted{};
  spawn([&] {
    tasks[0].key = 2;
    cluster.queues.post(tasks[0], 0);
    posted[0].store(true, sync::release);
  });
  spawn([&] {
    post(cluster, signal, tasks[1], 1);
    posted[1].store(true, sync::release);
  });
  const bool first = posted[0].load(sync::acquire);
  const bool second = posted[1].load(sync::acquire);
  LoopNode* task = cluster.take_late(0, 10);
  if (second) check(task == &tasks[1], "it has waited for longest");
  if (first && !second) check(task != nullptr, "it is late");
  if (!join_all()) return;
  int left = task != nullptr ? 1 : 2;
  while (cluster.take_late(1, 10) != nullptr) --left;
  check(left == 0, "none is lost");
}

/// Tasks of signals: two agents take them by what they have seen, while one of the queues moves.
HEIST_MODEL_PROGRAM(late_picks_of_signals_against_move, 1) {
  GuardedCluster cluster;
  Signal signal(0);
  Signal other(0);
  std::array<CountedNode, 2> tasks;
  Taken<2> taken;
  const auto look = [&](unsigned agent) {
    LoopNode* task = cluster.take_late(agent, 10);
    if (task != nullptr) taken.add(tasks, task);
  };
  post(cluster, other, tasks[0], 3);
  post(cluster, signal, tasks[1], 1);
  spawn([&] { signal.set_level(cluster, 1); });
  spawn([&] { look(1); });
  look(0);
  if (!join_all()) return;
  while (LoopNode* rest = cluster.pick(0)) taken.add(tasks, rest);
  taken.check_once();
}

namespace {

/// A cell that says how old it is.
struct OldCell : LinkedCell {
  OldCell(LoopNode& task, std::uint64_t age) noexcept : LinkedCell(&task, &free_old), key(age) {}
  static void free_old(LinkedCell& cell) noexcept { destroy_node(static_cast<OldCell&>(cell)); }
  const std::uint64_t key;
};

}  // namespace

/// An agent walks along a queue while another one takes from it, and frees what nobody looks at.
HEIST_MODEL_PROGRAM(walk_along_a_queue_against_takes, 2) {
  LinkedQueue::CellEpochs epochs(2);
  LinkedQueue queue;
  std::array<CountedNode, 5> tasks;
  const auto push = [&](std::size_t index) {
    queue.push(*make_node<OldCell>(tasks[index], index));
  };
  for (std::size_t index = 0; index < 3; ++index) push(index);
  spawn([&] {
    for (int i = 0; i < 3; ++i) {
      const LinkedQueue::CellEpochs::Inside inside(epochs, 1);
      check(queue.pop(epochs, 1) != nullptr, "there are enough");
    }
  });
  spawn([&] { push(3); });
  {
    const LinkedQueue::CellEpochs::Inside inside(epochs, 0);
    std::uint64_t last = 0;
    int seen = 0;
    for (auto* cell = queue.front().cell; cell != nullptr; cell = queue.next(*cell)) {
      const auto key = static_cast<OldCell*>(cell)->key;
      check(seen++ == 0 || key == last + 1, "in the order of pushes, none left out");
      last = key;
    }
  }
  join_all();
}

namespace {

EventLoopOptions guarded() {
  auto options = on_virtual_clock();
  options.max_wait = {.background = milliseconds(1)};
  return options;
}

}  // namespace

/// A late task against its abort: a pick that begins after abort() has returned does not start it
/// (ABT-2).
HEIST_MODEL_PROGRAM(late_pick_against_abort, 1) {
  const LoopCluster cluster(2, guarded());
  AbortController controller;
  sync::atomic<bool> aborted{false};
  int ran = 0;
  cluster.scheduler().post([&] { ++ran; },
                           {.signal = controller.signal(), .priority = TaskPriority::background});
  cluster.pass_time(milliseconds(2));
  spawn([&] {
    controller.abort();
    aborted.store(true, sync::release);
  });
  const bool was_aborted = aborted.load(sync::acquire);
  cluster.run_until_idle(0);
  if (was_aborted) check(ran == 0, "nothing aborted starts");
  if (join_all()) cluster.run_until_idle(0);
  check(ran <= 1, "it starts once");
}

/// Whoever picks has it, once, and its priority changes meanwhile.
HEIST_MODEL_PROGRAM(late_picks_against_set_priority, 1) {
  const LoopCluster cluster(2, guarded());
  TaskController controller(TaskPriority::background);
  sync::atomic<int> ran{0};
  static_cast<void>(cluster.scheduler().post_task([&] { ran.fetch_add(1, sync::acq_rel); },
                                                  {.signal = controller.signal()}));
  cluster.pass_time(milliseconds(2));
  spawn([&] { controller.set_priority(TaskPriority::user_visible); });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  cluster.run_until_idle(0);
  check(ran.load(sync::acquire) == 1, "it ran once");
}

/// By the only agent that picks: the late one before the urgent one.
HEIST_MODEL_PROGRAM(late_pick_goes_first, 2) {
  const LoopCluster cluster(2, guarded());
  sync::atomic<bool> late_ran{false};
  cluster.scheduler().post([&] { late_ran.store(true, sync::release); },
                           {.priority = TaskPriority::background});
  cluster.pass_time(milliseconds(2));
  spawn([&] { cluster.scheduler().post([] {}); });
  cluster.scheduler().post([&] { check(late_ran.load(sync::acquire), "what is late comes first"); },
                           {.priority = TaskPriority::user_blocking});
  cluster.run_until_idle(0);
  if (join_all()) cluster.run_until_idle(0);
}
