// What does a task cost one agent in the cluster's queues (ClusterQueues, docs/adr/0011 and 0014)?
// Posted and picked at once, without threads. What clusters do beside other pools is in
// bench/compare (pool2/*).
//
// Interleave: --benchmark_repetitions=7 --benchmark_enable_random_interleaving=true
//             --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <heist/cluster/queues/cluster_queues.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/ref.hpp>
#include <memory>

namespace bench {
namespace {

using namespace heist;
using namespace heist::detail;

struct NoSleepers {
  void notify(unsigned) noexcept {}
};
using Queues = ClusterQueues<ClusterSizes{}, NoSleepers>;

struct Task : LoopNode {
  Task() noexcept : LoopNode(table) {}
  static constexpr LoopNodeOps table{LoopNodeKind::task, nullptr, nullptr};
};

struct Cluster {
  NoSleepers nobody;
  std::unique_ptr<Queues> queues = std::make_unique<Queues>(2, nobody);
};

void check(bool holds) {
  if (!holds) std::abort();
}

/// An agent's own ring.
void push_and_pick(benchmark::State& state) {
  Cluster cluster;
  Task task;
  for (auto _ : state) {
    cluster.queues->post_from(0, task, 2);
    check(cluster.queues->pick(0, -1) == &task);
  }
}
/// The same through the bins.
void post_and_pick(benchmark::State& state) {
  Cluster cluster;
  Task task;
  for (auto _ : state) {
    cluster.queues->post(task, 2);
    check(cluster.queues->pick(0, -1) == &task);
  }
}
/// The same through the queue of a signal.
void post_shared_and_pick(benchmark::State& state) {
  Cluster cluster;
  Task task;
  const auto pair = Ref<SignalQueues>::adopt(make_node<SignalQueues>(2, 3));
  for (auto _ : state) {
    auto& queue = pair->queue(false);
    cluster.queues->post(*make_node<SignalQueueEntry>(task, *pair, queue));
    check(cluster.queues->pick(0, -1) == &task);
  }
}
/// A more urgent task comes and goes while the agent has others: the hint is raised, and lowered
/// again.
void urgent_between(benchmark::State& state) {
  Cluster cluster;
  Task low;
  Task urgent;
  for (auto _ : state) {
    cluster.queues->post_from(0, low, 0);
    cluster.queues->post(urgent, 4);
    check(cluster.queues->pick(0, -1) == &urgent);
    check(cluster.queues->pick(0, -1) == &low);
  }
}

BENCHMARK(push_and_pick);
BENCHMARK(post_and_pick);
BENCHMARK(post_shared_and_pick);
BENCHMARK(urgent_between);

}  // namespace
}  // namespace bench
