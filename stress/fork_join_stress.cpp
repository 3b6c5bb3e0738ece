// Random trees of forks on a cluster of four agents, while other threads post tasks of all
// priorities, and abort.
//
// I1  Each node of a tree runs once, and has ended when the tree has.
// I2  A tree whose nodes throw fails, and the others return the number of their nodes. An aborted
//     tree rejects, and its nodes run to their ends all the same.
// I3  All nodes have the scheduler of their root.
// I4  However many trees there have been, memory is flat.
// I5  The callback of a task that has forked is destroyed after the tree and after the task's
//     checkpoint, and sees what both did.
#include <array>
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
using namespace heist::detail;
using namespace heist::stress;

struct Counts {
  std::uint64_t trees = 0;
  std::uint64_t failed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t nodes = 0;
};

/// One tree: what its nodes are to do, and what they did.
struct Plan {
  Plan(Scheduler of, std::uint64_t random, int levels, bool may_throw)
      : scheduler(std::move(of)), seed(random), depth(levels), throws(may_throw) {}

  Scheduler scheduler;
  std::uint64_t seed;
  int depth;
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

/// A tree is wide at the bottom. Above, each node has one child: some trees are deeper than calls
/// run within their callers.
constexpr int wide_levels = 5;
constexpr int most_levels = 45;

/// Returns how many nodes this tree has.
Forkable<std::uint64_t> node(Plan& plan, std::uint64_t seed, int depth) {
  Random random(seed);
  const OnEnd on_end(plan);
  plan.begun.fetch_add(1);
  dither(random);
  const auto here = Scheduler::current();
  check(here && *here == plan.scheduler, "a node runs with another scheduler");
  std::vector<Forked<std::uint64_t>> children;
  std::uint64_t nodes = 1;
  const auto count = depth == 0 ? 0 : depth > wide_levels ? 1 : random.below(5);
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

/// A parent and a child that end at about the same moment, on two agents.
struct Pair {
  std::uint64_t parent_steps = 0;
  std::uint64_t child_steps = 0;
  sync::atomic<bool> is_apart{false};  ///< a hint: the parent has gone on beside its child
  bool is_checked = false;             ///< the task's checkpoint has run
  bool callback_saw_it = false;
};

/// A part of the task's callback, so it is destroyed after the tree and the checkpoint.
class SeesCheckpoint {
 public:
  explicit SeesCheckpoint(Pair& pair) : pair_(&pair) {}
  SeesCheckpoint(SeesCheckpoint&& other) noexcept : pair_(std::exchange(other.pair_, nullptr)) {}
  SeesCheckpoint& operator=(SeesCheckpoint&&) = delete;
  ~SeesCheckpoint() {
    if (pair_ != nullptr) pair_->callback_saw_it = pair_->is_checked;
  }

 private:
  Pair* pair_;
};

void step(std::uint64_t steps) {
  const volatile auto end = steps;
  for (std::uint64_t i = 0; i < end; ++i) {
  }
}
Forkable<std::uint64_t> child_of(Pair& pair) {
  queue_microtask([&pair] { pair.is_checked = true; });
  // relaxed: a hint. If an awake agent takes the parent, it does so at once.
  for (int turn = 0; turn < 2000 && !pair.is_apart.load(sync::relaxed); ++turn) {
  }
  step(pair.child_steps);
  co_return 1;
}
Forkable<std::uint64_t> parent_of(Pair& pair) {
  auto child = co_await fork(child_of(pair));
  pair.is_apart.store(true, sync::relaxed);  // relaxed: as above.
  step(pair.parent_steps);
  co_await join();
  co_return 1 + child.value();
}

class ForkRounds {
 public:
  void round(Random& random) {
    std::vector<std::shared_ptr<Plan>> plans;
    std::vector<Promise<std::uint64_t>> trees;
    AbortController controller;
    for (int i = 0; i < 6; ++i) {
      const int depth = random.one_in(4) ? most_levels : wide_levels;
      plans.push_back(std::make_shared<Plan>(scheduler_, random(), depth, random.one_in(3)));
      trees.push_back(begin(plans.back(), random, controller.signal()));
      for (int task = 0; task < 3; ++task) {
        scheduler_.post([this] { tasks_.fetch_add(1); }, {.priority = priorities[random.below(3)]});
      }
    }
    if (random.one_in(2)) controller.abort();
    for (std::size_t i = 0; i < trees.size(); ++i) look_at(trees[i], plans[i]);
    trees.clear();
    run_pairs(random);
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
      return scheduler_.post_task([plan] { return node(*plan, plan->seed, plan->depth); }, options);
    }
    return scheduler_.post_task([plan] { return awaited(*plan); }, options);
  }
  static Promise<std::uint64_t> awaited(Plan& plan) {
    co_return co_await node(plan, plan.seed, plan.depth);
  }

  /// Runs so many pairs that an agent that has ended one finds another one to steal, before it
  /// comes to a task of its own.
  void run_pairs(Random& random) {
    std::array<Pair, 256> pairs;
    std::vector<Promise<std::uint64_t>> trees;
    for (Pair& pair : pairs) {
      pair.parent_steps = random.below(400);
      pair.child_steps = random.below(100);
      trees.push_back(
          scheduler_.post_task([&pair, sees = SeesCheckpoint(pair)] { return parent_of(pair); }));
    }
    for (const auto& tree : trees) check(tree.get() == 2, "a node of a pair was lost");
    for (const Pair& pair : pairs) {
      check(pair.callback_saw_it, "a callback was destroyed before the checkpoint");
    }
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
    // The callback lives as long as the tree, which may still run after it was aborted.
    while (plan.use_count() != 1) std::this_thread::yield();
    check(plan->begun.load() == plan->ended.load(), "a tree ended before its nodes did");
    check(nodes == 0 || nodes == plan->begun.load(), "a node ran twice, or not at all");
    counts_.nodes += plan->begun.load();
  }

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
