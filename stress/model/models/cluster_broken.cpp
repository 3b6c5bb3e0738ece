// Limits of a cluster that ADR 0011 and 0014 state: these models must fail.
#include <array>
#include <utility>

#include "../cluster_queues.hpp"
#include "../out_of_memory.hpp"
#include "cluster/idle_agents.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// Any stall of 2^12 to 2^13 rounds, not of exactly 2^13 of them, makes a poster post where nobody
/// looks: the words are set as so many rounds leave them, and tail_ is what the poster had read.
/// (The fewer rounds, the longer it walks.)
HEIST_MODEL_PROGRAM(broken_stall_of_many_rounds, 0) {
  constexpr std::uint64_t rounds = (1U << 13) - 9;
  constexpr unsigned round_shift = 51;
  InjectionQueue<2, 2> bins;
  CountedNode task;
  bool is_head = true;
  QueueProbe::each_word(bins, [&](sync::atomic<std::uint64_t>& word) {
    word.store(std::exchange(is_head, false) ? rounds * 2 : rounds << round_shift, sync::relaxed);
  });
  bins.post(task);
  check(bins.has_tasks(), "what was posted is found");
}

/// A searcher that is stopped (agent 1, by the system, or while it keeps the delays) holds up the
/// wake-ups that posters leave to it: agent 0 sleeps on (CLU-3's "a wake-up is in flight").
HEIST_MODEL_PROGRAM(broken_stopped_searcher, 0) {
  IdleAgents idle(2);
  idle.begin_search();
  idle.announce(0);
  idle.begin_search();
  check(idle.notify(0).has_value(), "who posts wakes a sleeper");
}

/// Two moves of one queue at the same time have kept memory for one ticket. When there is none
/// besides, who gets no ticket tries until there is some (ADR 0014): the other one's may be for a
/// level that the queue has left.
HEIST_MODEL_PROGRAM(broken_two_moves_without_memory, 2) {
  Cluster cluster;
  Signal signal(1);
  CountedNode task;
  signal.post(cluster, task);
  for (int level = 0; level < 3; level += 2) {
    spawn([&, level] {
      signal.pair().reserve();
      const OutOfMemory scope;
      signal.set_level(cluster, level);
    });
  }
  join_all();
}
