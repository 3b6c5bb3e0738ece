// The queues by themselves: each task leaves once, in order, and none is lost.
#include <array>
#include <vector>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

struct Taken {
  std::array<int, 4> times{};
  void add(std::span<CountedTask> tasks, SpikeTask* task) {
    const model::Unwatched scope;
    ++times.at(static_cast<std::size_t>(static_cast<CountedTask*>(task) - tasks.data()));
  }
};

}  // namespace

/// Two posters fill bins, two agents take them; the ring goes round.
HEIST_MODEL_PROGRAM(bins_give_each_task_to_one, 2) {
  BinRing<2, 2> bins;
  std::array<CountedTask, 4> tasks;
  Taken taken;
  const auto take = [&] {
    for (SpikeTask* task = bins.take(); task != nullptr;) {
      SpikeTask* next = task->next;
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
  for (const int times : taken.times) check(times == 1, "each task is taken once");
}

/// One poster, two agents: whoever takes later gets younger tasks, also when the ring is full and goes round.
HEIST_MODEL_PROGRAM(bins_keep_their_order, 2) {
  BinRing<2, 1> bins;
  std::array<CountedTask, 4> tasks;
  sync::atomic<int> last{-1};
  const auto take_one = [&] {
    const int before = last.load(sync::acquire);
    for (SpikeTask* task = bins.take(); task != nullptr; task = task->next) {
      const int index = static_cast<int>(static_cast<CountedTask*>(task) - tasks.data());
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

/// The owner pushes and pops while a thief takes one, or half; the ring is full at once and goes round.
HEIST_MODEL_PROGRAM(ring_gives_each_task_to_one, 3) {
  StealableRing<2> ring;
  std::array<CountedTask, 4> tasks;
  Taken taken;
  spawn([&] {
    std::array<SpikeTask*, 2> loot{};
    const auto count = ring.claim(loot);
    for (unsigned i = 0; i < count; ++i) taken.add(tasks, loot[i]);
    if (SpikeTask* one = ring.claim_one()) taken.add(tasks, one);
  });
  for (auto& task : tasks) {
    while (!ring.push(task)) {
      if (SpikeTask* own = ring.claim_one()) taken.add(tasks, own);
    }
  }
  if (!join_all()) return;
  while (SpikeTask* rest = ring.claim_one()) taken.add(tasks, rest);
  for (const int times : taken.times) check(times == 1, "each task is taken once");
}

/// Two posters and two agents on a linked queue; its cells are freed when no agent looks at them any more.
HEIST_MODEL_PROGRAM(linked_queue_gives_each_task_to_one, 1) {
  LinkedQueue<2>::CellEpochs epochs;
  LinkedQueue<2> queue;
  std::array<CountedTask, 4> tasks;
  Taken taken;
  const auto take = [&](unsigned agent) {
    for (int i = 0; i < 2; ++i) {
      const LinkedQueue<2>::CellEpochs::Inside inside(epochs, agent);
      if (void* item = queue.pop(epochs, agent)) taken.add(tasks, static_cast<SpikeTask*>(item));
    }
  };
  queue.push(*make_node<LinkedCell>(&tasks[0]));
  queue.push(*make_node<LinkedCell>(&tasks[1]));
  spawn([&] { queue.push(*make_node<LinkedCell>(&tasks[2])); });
  spawn([&] { queue.push(*make_node<LinkedCell>(&tasks[3])); });
  spawn([&] { take(1); });
  take(0);
  if (!join_all()) return;
  take(0);
  take(1);
  for (const int times : taken.times) check(times == 1, "each task is taken once");
}

/// One agent stays with a cell while the other one takes so many that epochs pass: it is not freed under its eyes.
HEIST_MODEL_PROGRAM(cells_outlive_who_looks_at_them, 1) {
  LinkedQueue<2>::CellEpochs epochs;
  LinkedQueue<2> queue;
  CountedTask task;
  for (int i = 0; i < 7; ++i) queue.push(*make_node<LinkedCell>(&task));
  const auto take = [&](unsigned agent) {
    const LinkedQueue<2>::CellEpochs::Inside inside(epochs, agent);
    check(queue.pop(epochs, agent) == &task, "there are enough for all");
  };
  spawn([&] { take(1); });
  for (int i = 0; i < 6; ++i) take(0);
  join_all();
}

/// More tasks than bins and rings have places for: the last bin takes what is left.
HEIST_MODEL_PROGRAM(more_than_fits, 1) {
  ModelClock clock;
  Cluster cluster(clock);
  std::array<CountedTask, 9> tasks;
  for (std::size_t i = 0; i < 6; ++i) cluster.post(tasks[i], 1);
  spawn([&] {
    for (std::size_t i = 6; i < tasks.size(); ++i) cluster.post(tasks[i], 1);
  });
  const auto run_all = [&](unsigned agent) {
    while (SpikeTask* task = cluster.pick(agent)) task->run(*task);
  };
  run_all(0);
  if (!join_all()) return;
  run_all(1);
  for (const auto& task : tasks) check(task.runs == 1, "every task runs once");
}
