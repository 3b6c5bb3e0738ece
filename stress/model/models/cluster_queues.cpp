// The queues of a cluster by themselves: each task leaves once, in order, and none is lost (CLU-2).
#include <array>
#include <span>

#include "../cluster_queues.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// Two posters fill bins, two agents take them; the ring goes round.
HEIST_MODEL_PROGRAM(bins_give_each_task_to_one, 2) {
  InjectionQueue<2, 2> bins;
  std::array<CountedNode, 4> tasks;
  Taken<4> taken;
  const auto take = [&] {
    for (LoopNode* task = bins.take(); task != nullptr;) {
      LoopNode* next = task->next;
      taken.add(tasks, task);
      task = next;
    }
  };
  spawn([&] {
    bins.post(tasks[0]);
    bins.post(tasks[1]);
  });
  spawn([&] {
    bins.post(tasks[2]);
    bins.post(tasks[3]);
  });
  spawn(take);
  take();
  if (!join_all()) return;
  for (int i = 0; i < 3; ++i) take();
  taken.check_once();
}

/// One poster, an agent: whoever takes later gets younger tasks, also when the ring is full and
/// goes round.
HEIST_MODEL_PROGRAM(bins_keep_their_order, 2) {
  InjectionQueue<2, 2> bins;
  std::array<CountedNode, 4> tasks;
  sync::atomic<int> last{-1};
  const auto take_one = [&] {
    const int before = last.load(sync::acquire);
    for (LoopNode* task = bins.take(); task != nullptr; task = task->next) {
      const int index = static_cast<int>(static_cast<CountedNode*>(task) - tasks.data());
      check(index > before, "what was taken before is older");
      last.store(index, sync::release);
    }
  };
  spawn([&] {
    for (auto& task : tasks) bins.post(task);
  });
  for (int i = 0; i < 3; ++i) take_one();
  if (!join_all()) return;
  for (int i = 0; i < 4; ++i) take_one();
  check(last.load(sync::relaxed) == 3, "none is lost");
}

/// An overfull bin is taken in portions of K, while another task comes to it, and a second agent
/// takes.
HEIST_MODEL_PROGRAM(overfull_bins_leave_in_portions, 2) {
  InjectionQueue<2, 2> bins;
  std::array<CountedNode, 8> tasks;
  Taken<8> taken;
  const auto take = [&] {
    LoopNode* task = bins.take();
    check(task == nullptr || task->next == nullptr || task->next->next == nullptr,
          "at most K are in transfer");
    while (task != nullptr) {
      LoopNode* next = task->next;
      taken.add(tasks, task);
      task = next;
    }
  };
  for (std::size_t i = 0; i < 7; ++i) bins.post(tasks[i]);
  spawn([&] { bins.post(tasks[7]); });
  spawn(take);
  for (int i = 0; i < 3; ++i) take();
  if (!join_all()) return;
  for (int i = 0; i < 4; ++i) take();
  taken.check_once();
}

namespace {

/// Tasks of which the even ones are aborted, in bins that are swept.
class SweptBins {
 public:
  void post(std::size_t index) { bins_.post(tasks_.at(index)); }
  void take() {
    LoopNode* task = bins_.take();
    while (task != nullptr) {
      LoopNode* next = task->next;
      taken_.add(tasks_, task);
      task = next;
    }
  }
  void sweep() {
    const auto end = bins_.end();
    for (std::uint64_t at = 0; at < end;) {
      bins_.sweep(at, [this](LoopNode& node) noexcept {
        const bool is_aborted = (static_cast<CountedNode*>(&node) - tasks_.data()) % 2 == 0;
        if (is_aborted) taken_.add(tasks_, &node);
        return !is_aborted;
      });
    }
  }
  void check_all() {
    for (int i = 0; i < 4; ++i) take();
    taken_.check_once();
  }

 private:
  InjectionQueue<2, 2> bins_;
  std::array<CountedNode, 6> tasks_;
  Taken<6> taken_;
};

}  // namespace

/// Aborted tasks leave their bins while others are posted, one of them to a full ring, and taken.
HEIST_MODEL_PROGRAM(bins_are_swept, 2) {
  SweptBins swept;
  for (std::size_t i = 0; i < 4; ++i) swept.post(i);
  spawn([&] { swept.post(4); });
  spawn([&] {
    swept.take();
    swept.post(5);
  });
  swept.sweep();
  swept.take();
  if (!join_all()) return;
  swept.check_all();
}

/// Of what is swept that which stays keeps its order.
HEIST_MODEL_PROGRAM(swept_bins_keep_their_order, 2) {
  InjectionQueue<4, 2> bins;
  std::array<CountedNode, 6> tasks;
  const auto index_of = [&](LoopNode& task) {
    return static_cast<int>(static_cast<CountedNode*>(&task) - tasks.data());
  };
  for (auto& task : tasks) bins.post(task);
  spawn([&] {
    const auto end = bins.end();
    for (std::uint64_t at = 0; at < end;)
      bins.sweep(at, [&](LoopNode& task) noexcept { return index_of(task) % 2 != 0; });
  });
  int last = -1;
  const auto take = [&] {
    for (LoopNode* task = bins.take(); task != nullptr; task = task->next) {
      check(index_of(*task) > last || last > 0, "what one agent takes is in order");
      last = index_of(*task);
    }
  };
  if (!join_all()) return;
  for (int i = 0; i < 4; ++i) take();
  check(last == 5, "none is lost");
}

/// The owner pushes and pops while a thief takes one, or half; the ring is full at once and goes
/// round.
HEIST_MODEL_PROGRAM(ring_gives_each_task_to_one, 3) {
  StealableRing<2, 0> ring;
  std::array<CountedNode, 4> tasks;
  Taken<4> taken;
  spawn([&] {
    std::array<LoopNode*, 2> loot{};
    const auto count = ring.claim(loot);
    for (unsigned i = 0; i < count; ++i) taken.add(tasks, loot[i]);
    if (LoopNode* one = ring.claim_one()) taken.add(tasks, one);
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

/// Own posts leave the kept places free: what the owner takes over always fits there, whatever the
/// thief does.
HEIST_MODEL_PROGRAM(ring_keeps_places_for_a_chain, 3) {
  StealableRing<4, 2> ring;
  std::array<CountedNode, 5> tasks;
  Taken<5> taken;
  spawn([&] {
    for (int i = 0; i < 2; ++i) {
      if (LoopNode* one = ring.claim_one()) taken.add(tasks, one);
    }
  });
  std::size_t pushed = 0;
  while (pushed < 3 && ring.push(tasks[pushed])) ++pushed;
  for (std::size_t i = pushed; i < 3; ++i) taken.add(tasks, &tasks[i]);
  tasks[3].next = &tasks[4];
  tasks[4].next = nullptr;
  check(ring.push_chain(&tasks[3]) == nullptr, "two places are kept");
  if (!join_all()) return;
  while (LoopNode* rest = ring.claim_one()) taken.add(tasks, rest);
  taken.check_once();
}

/// Two posters and two agents on a linked queue; its cells are freed when no agent looks at them
/// any more.
HEIST_MODEL_PROGRAM(linked_queue_gives_each_task_to_one, 1) {
  LinkedQueue::CellEpochs epochs(2);
  LinkedQueue queue;
  std::array<CountedNode, 4> tasks;
  Taken<4> taken;
  const auto push = [&](std::size_t index) {
    queue.push(*make_node<LinkedCell>(&tasks[index], &free_cell));
  };
  const auto take = [&](unsigned agent) {
    for (int i = 0; i < 2; ++i) {
      const LinkedQueue::CellEpochs::Inside inside(epochs, agent);
      if (void* item = queue.pop(epochs, agent)) taken.add(tasks, static_cast<LoopNode*>(item));
    }
  };
  push(0);
  push(1);
  spawn([&] { push(2); });
  spawn([&] { push(3); });
  spawn([&] { take(1); });
  take(0);
  if (!join_all()) return;
  take(0);
  take(1);
  taken.check_once();
}

namespace {

/// A queue whose cells other threads empty, of two agents: the first one sweeps.
class SweptQueue {
 public:
  static constexpr std::size_t count = 5;

  void push() {
    auto* cell = make_node<LinkedCell>(&tasks_.at(pushed_), &free_cell);
    cell->hold();
    cells_.at(pushed_++) = cell;
    queue_.push(*cell);
  }
  /// As a reaper.
  void empty_cell(std::size_t index) {
    if (void* item = LinkedQueue::claim(*cells_.at(index)))
      taken_.add(tasks_, static_cast<LoopNode*>(item));
  }
  void take(unsigned agent) {
    const LinkedQueue::CellEpochs::Inside inside(epochs_, agent);
    if (void* item = queue_.pop(epochs_, agent)) taken_.add(tasks_, static_cast<LoopNode*>(item));
  }
  void sweep() {
    const LinkedQueue::CellEpochs::Inside inside(epochs_, 0);
    LinkedCell* at = sweep_behind(nullptr);
    while (at != nullptr && !LinkedQueue::is_empty(*at)) at = sweep_behind(at);
  }
  void check_all() {
    for (std::size_t i = 0; i < count; ++i) take(0);
    taken_.check_once();
    for (auto* cell : cells_) cell->end();
  }

 private:
  LinkedCell* sweep_behind(LinkedCell* from) {
    unsigned most = 2;
    return queue_.sweep(epochs_, 0, from, most);
  }

  LinkedQueue::CellEpochs epochs_{2};
  LinkedQueue queue_;
  std::array<CountedNode, count> tasks_;
  std::array<LinkedCell*, count> cells_{};
  std::size_t pushed_ = 0;
  Taken<count> taken_;
};

}  // namespace

/// Two empty cells are taken out of the middle while another agent takes what stands before and
/// behind them.
HEIST_MODEL_PROGRAM(empty_cells_leave_a_queue_against_takes, 3) {
  SweptQueue swept;
  for (std::size_t i = 0; i < SweptQueue::count; ++i) swept.push();
  swept.empty_cell(1);
  swept.empty_cell(2);
  spawn([&] {
    for (int i = 0; i < 3; ++i) swept.take(1);
  });
  swept.sweep();
  if (!join_all()) return;
  swept.check_all();
}

/// The same while the newest comes, and the reaper is still at it.
HEIST_MODEL_PROGRAM(empty_cells_leave_a_queue_against_a_push, 2) {
  SweptQueue swept;
  for (std::size_t i = 0; i + 1 < SweptQueue::count; ++i) swept.push();
  swept.empty_cell(1);
  spawn([&] { swept.push(); });
  spawn([&] {
    swept.empty_cell(3);
    swept.take(1);
  });
  swept.sweep();
  for (int i = 0; i < 3; ++i) swept.take(0);
  if (!join_all()) return;
  swept.check_all();
}

namespace {

/// One agent takes a cell, beside another one that takes so many that the first ones are freed.
struct TakenBeside {
  explicit TakenBeside(unsigned agents, unsigned enlisted) : epochs(agents, enlisted) {
    for (int i = 0; i < 7; ++i) queue.push(*make_node<LinkedCell>(&task, &free_cell));
  }
  void take(unsigned agent) {
    const LinkedQueue::CellEpochs::Inside inside(epochs, agent);
    check(queue.pop(epochs, agent) == &task, "there are enough for all");
  }
  void take_most() {
    for (int i = 0; i < 6; ++i) take(0);
    join_all();
  }

  LinkedQueue::CellEpochs epochs;
  LinkedQueue queue;
  CountedNode task;
};

}  // namespace

HEIST_MODEL_PROGRAM(cells_outlive_who_looks_at_them, 1) {
  TakenBeside agents(2, 2);
  spawn([&] { agents.take(1); });
  agents.take_most();
}

/// The same for an agent that takes part only from now on. It is none of the last two, which always
/// take part.
HEIST_MODEL_PROGRAM(cells_outlive_who_has_just_come, 1) {
  TakenBeside agents(4, 1);
  spawn([&] {
    agents.epochs.enlist(2);
    agents.take(1);
  });
  agents.take_most();
}

/// Epochs: one agent is inside while the other one retires more cells than there are bags.
HEIST_MODEL_PROGRAM(an_agent_inside_stops_freeing, 2) {
  LinkedQueue::CellEpochs epochs(2);
  LinkedQueue queue;
  std::array<CountedNode, 6> tasks;
  for (auto& task : tasks) queue.push(*make_node<LinkedCell>(&task, &free_cell));
  const auto take = [&](unsigned agent) {
    const LinkedQueue::CellEpochs::Inside inside(epochs, agent);
    if (void* item = queue.pop(epochs, agent)) run(*static_cast<CountedNode*>(item));
  };
  spawn([&] { take(1); });
  for (int i = 0; i < 5; ++i) take(0);
  if (!join_all()) return;
  take(0);
  for (const auto& task : tasks) check(task.runs == 1, "each task is taken once");
}

/// More tasks than bins and rings have places for: the last bin takes what is left.
HEIST_MODEL_PROGRAM(more_than_fits, 1) {
  Cluster cluster;
  std::array<CountedNode, 9> tasks;
  for (std::size_t i = 0; i < 6; ++i) cluster.post(tasks[i], 1);
  spawn([&] {
    for (std::size_t i = 6; i < tasks.size(); ++i) cluster.post(tasks[i], 1);
  });
  const auto run_all = [&](unsigned agent) {
    while (LoopNode* task = cluster.pick(agent)) run(*task);
  };
  run_all(0);
  if (!join_all()) return;
  run_all(1);
  for (const auto& task : tasks) check(task.runs == 1, "every task runs once");
}

/// An agent posts itself more than its ring takes, while another one steals: what does not fit goes
/// to the bins.
HEIST_MODEL_PROGRAM(own_posts_beyond_the_ring, 1) {
  Cluster cluster;
  std::array<CountedNode, 5> tasks;
  const auto run_all = [&](unsigned agent) {
    while (LoopNode* task = cluster.pick(agent)) run(*task);
  };
  spawn([&] { run_all(1); });
  for (auto& task : tasks) cluster.queues.post_from(0, task, 1);
  run_all(0);
  if (!join_all()) return;
  run_all(0);
  for (const auto& task : tasks) check(task.runs == 1, "every task runs once");
}

namespace {

/// Sizes with which an agent looks at the others' tasks at every second pick.
constexpr ClusterSizes sharing{.bins = 2, .bin = 2, .ring = 4, .others_turn = 2, .levels = 2};

}  // namespace

/// The others' turn: an agent with tasks of its own takes one of the bins, or of the other agent's
/// ring.
HEIST_MODEL_PROGRAM(others_have_their_turn, 2) {
  NoSleepers nobody;
  ClusterQueues<sharing, NoSleepers> queues(2, nobody);
  std::array<CountedNode, 4> tasks;
  for (unsigned agent = 0; agent < 2; ++agent) queues.post_from(agent, tasks[agent], 1);
  const auto run_two = [&](unsigned agent) {
    for (int i = 0; i < 2; ++i) {
      if (LoopNode* task = queues.pick(agent, -1)) run(*task);
    }
  };
  spawn([&] {
    queues.post(tasks[2], 1);
    queues.post(tasks[3], 0);
  });
  spawn([&] { run_two(1); });
  run_two(0);
  if (!join_all()) return;
  while (LoopNode* task = queues.pick(0, -1)) run(*task);
  for (const auto& task : tasks) check(task.runs == 1, "every task runs once");
}
