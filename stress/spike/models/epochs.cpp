// Epochs: an agent that stays inside keeps what it may look at, however much another one retires.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

/// One agent is inside while the other one retires more cells than there are bags.
HEIST_MODEL_PROGRAM(an_agent_inside_stops_freeing, 2) {
  LinkedQueue<2>::CellEpochs epochs;
  LinkedQueue<2> queue;
  std::array<CountedTask, 6> tasks;
  for (auto& task : tasks) queue.push(*make_node<LinkedCell>(&task));
  const auto take = [&](unsigned agent) {
    const LinkedQueue<2>::CellEpochs::Inside inside(epochs, agent);
    if (void* item = queue.pop(epochs, agent)) ++static_cast<CountedTask*>(item)->runs;
  };
  spawn([&] { take(1); });
  for (int i = 0; i < 5; ++i) take(0);
  if (!join_all()) return;
  take(0);
  for (const auto& task : tasks) check(task.runs == 1, "each task is taken once");
}
