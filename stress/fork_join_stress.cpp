// Random trees of forks on a cluster of four agents, while other threads post tasks of all priorities, and abort.
//
// I1  Each node of a tree runs once, and has ended when the tree has.
// I2  A tree whose nodes throw fails; the others give the number of their nodes. An aborted one rejects, and
//     its nodes run to their ends all the same.
// I3  All nodes have the scheduler of their root.
// I4  However many trees have been, memory is flat.
#include <atomic>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/fence.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;

struct Counts {
  std::uint64_t trees = 0;
  std::uint64_t failed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t nodes = 0;
};

/// One tree: what its nodes are to do, and what they did.
struct Plan {
  Plan(Scheduler of, std::uint64_t random, bool may_throw)
      : scheduler(std::move(of)), seed(random), throws(may_throw) {}

  Scheduler scheduler;
  std::uint64_t seed;
  bool throws;
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> ended{0};
};

struct OnEnd {
  explicit OnEnd(Plan& of) : plan(of) {}
  OnEnd(const OnEnd&) = delete;
  OnEnd& operator=(const OnEnd&) = delete;
  ~OnEnd() { plan.ended.fetch_add(1); }
  Plan& plan;
};

/// Counts its nodes.
Forkable<std::uint64_t> node(Plan& plan, std::uint64_t seed, int depth) {
  Random random(seed);
  const OnEnd on_end(plan);
  plan.begun.fetch_add(1);
  dither(random);
  const auto here = Scheduler::current();
  check(here && *here == plan.scheduler, "a node runs with another scheduler");
  std::vector<Forked<std::uint64_t>> children;
  std::uint64_t nodes = 1;
  const auto count = depth == 0 ? 0 : random.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto choice = random.below(8);
    const auto child_seed = random();
    if (choice == 0) {
      nodes += co_await node(plan, child_seed, depth - 1);
    } else {
      children.push_back(co_await fork(node(plan, child_seed, depth - 1)));
    }
    if (choice == 1) co_await join();
  }
  if (plan.throws && random.one_in(8)) throw std::runtime_error("a node");
  co_await join();
  for (auto& child : children) nodes += child.value();
  co_return nodes;
}

class ForkRounds {
 public:
  void round(Random& random) {
    std::vector<std::shared_ptr<Plan>> plans;
    std::vector<Promise<std::uint64_t>> trees;
    AbortController controller;
    for (int i = 0; i < 6; ++i) {
      plans.push_back(std::make_shared<Plan>(scheduler_, random(), random.one_in(3)));
      trees.push_back(begin(plans.back(), random, controller.signal()));
      for (int task = 0; task < 3; ++task) {
        scheduler_.post([this] { tasks_.fetch_add(1); }, {.priority = priorities[random.below(3)]});
      }
    }
    if (random.one_in(2)) controller.abort();
    for (std::size_t i = 0; i < trees.size(); ++i) look_at(trees[i], plans[i]);
    trees.clear();
    flat_memory_.look();
  }
  [[nodiscard]] Counts counts() const { return counts_; }
  [[nodiscard]] std::uint64_t stolen() const { return cluster_.stats().stolen; }

 private:
  Promise<std::uint64_t> begin(const std::shared_ptr<Plan>& plan, Random& random,
                               const AbortSignal& signal) {
    PostTaskOptions options{.priority = priorities[random.below(3)]};
    if (random.one_in(4)) options.signal = signal;
    if (random.one_in(2)) {
      return scheduler_.post_task([plan] { return node(*plan, plan->seed, depth); }, options);
    }
    return scheduler_.post_task([plan] { return awaited(*plan); }, options);
  }
  static Promise<std::uint64_t> awaited(Plan& plan) {
    co_return co_await node(plan, plan.seed, depth);
  }

  void look_at(const Promise<std::uint64_t>& tree, const std::shared_ptr<Plan>& plan) {
    ++counts_.trees;
    std::uint64_t nodes = 0;
    try {
      nodes = tree.get();
    } catch (const AbortError&) {
      ++counts_.aborted;
    } catch (const std::runtime_error&) {
      check(plan->throws, "a tree failed in which nothing throws");
      ++counts_.failed;
    }
    // The callback lives as long as the tree, which may run still when it was aborted.
    while (plan.use_count() != 1) std::this_thread::yield();
    check(plan->begun.load() == plan->ended.load(), "a tree ended before its nodes did");
    check(nodes == 0 || nodes == plan->begun.load(), "a node ran twice, or not at all");
    counts_.nodes += plan->begun.load();
  }

  static constexpr int depth = 5;

  std::atomic<std::uint64_t> tasks_{0};
  AgentCluster cluster_{{.agents = 4}};
  Scheduler scheduler_ = cluster_.scheduler();
  Counts counts_;
  FlatMemory flat_memory_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("fork_join_stress", {argv, static_cast<std::size_t>(argc)});
  ForkRounds stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, trees %llu, failed %llu, aborted %llu, nodes %llu, stolen %llu\n",
              printable(rounds), printable(counts.trees), printable(counts.failed),
              printable(counts.aborted), printable(counts.nodes), printable(stress.stolen()));
  check(counts.failed > 0 && counts.aborted > 0, "no tree failed, or none was aborted");
  check(stress.stolen() > 0, "nothing was stolen");
}
