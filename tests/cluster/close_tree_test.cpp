// Rules: LIF-1, ABT-6: a close whose deadline comes while parts of a tree of forked calls run on
//         several agents.
#include "cluster/cluster_fixture.hpp"
#include "cluster/fib.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::fib;

/// A call and its forked child, which run on two agents.
struct TwoParts {
  [[nodiscard]] Forkable<int> parent(const AgentCluster& cluster) {
    co_await fork(child(cluster));
    stolen.open();
    end_of_parent.wait();
    co_await join();
    co_return 7;
  }
  Forkable<> child(const AgentCluster& cluster) {
    first_agent = agent_here(cluster);
    stolen.wait();
    both_run.open();
    end_of_child.wait();
    co_return;
  }
  void let_go() {
    end_of_child.open();
    end_of_parent.open();
  }

  test::Gate stolen;
  test::Gate both_run;
  test::Gate end_of_child;
  test::Gate end_of_parent;
  std::optional<unsigned> first_agent;
};

class CloseTree : public ClusterOf {
 protected:
  /// Once this agent sleeps; the others may be busy.
  void let_sleep(unsigned index) {
    const auto sleeps = [this, index] { return cluster().agent(index).stats().sleeps; };
    const auto before = bound(index).post_task(sleeps).get();
    wait_until([&] { return sleeps() > before; });
  }
  [[nodiscard]] CloseReport close_now() {
    return cluster().close(CloseMode::drain_until(Clock::now()));
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, CloseTree, several_agents, size_name);

TEST_P(CloseTree, deadline_when_the_tree_runs_on_another_agent_only_then_its_task_rejects) {
  TwoParts tree;
  const auto task = scheduler().post_task([&] { return tree.parent(cluster()); });
  tree.both_run.wait();
  tree.end_of_child.open();
  let_sleep(*tree.first_agent);  // it is done with its part
  EXPECT_EQ(close_now(), (CloseReport{.still_running = 1}));
  EXPECT_TRUE(test::is<AbortError>(task.reason()));
  tree.end_of_parent.open();
  end();  // its agents, who use it
}

TEST_P(CloseTree, deadline_when_several_agents_run_parts_of_it_then_its_task_counts_once) {
  TwoParts tree;
  const auto task = scheduler().post_task([&] { return tree.parent(cluster()); });
  tree.both_run.wait();
  EXPECT_EQ(close_now(), (CloseReport{.still_running = 1}));
  EXPECT_TRUE(test::is<AbortError>(task.reason()));
  tree.let_go();
  end();  // its agents, who use it
}

TEST_P(CloseTree, deadline_when_a_coroutine_awaits_it_then_it_counts_once) {
  TwoParts tree;
  const auto task =
      scheduler().post_task([&]() -> Promise<int> { co_return co_await tree.parent(cluster()); });
  tree.both_run.wait();
  EXPECT_EQ(close_now(), (CloseReport{.still_running = 1}));
  tree.let_go();
  end();  // its agents, who use it
}

TEST_P(CloseTree, deadline_when_it_was_aborted_before_then_it_counts_and_its_reason_stays) {
  TwoParts tree;
  AbortController controller;
  const auto task = scheduler().post_task([&] { return tree.parent(cluster()); },
                                          {.signal = controller.signal()});
  tree.both_run.wait();
  controller.abort(std::string("mine"));
  EXPECT_EQ(close_now(), (CloseReport{.still_running = 1}));
  ASSERT_NE(task.reason().value<std::string>(), nullptr);
  tree.let_go();
  end();  // its agents, who use it
}

// Rule: LIF-2
TEST_P(CloseTree, deadline_when_trees_end_at_that_moment_then_each_settles_once) {
  for (int round = 0; round < 100; ++round) {
    AgentCluster closing({.agents = size()});
    std::vector<Promise<int>> trees;
    for (int i = 0; i < 4; ++i) {
      trees.push_back(closing.scheduler().post_task(tracked([] { return fib(8); })));
      static_cast<void>(closing.scheduler().post_task([] { return fib(8); }));
    }
    ASSERT_TRUE(settles(trees.front()));
    closing.close(CloseMode::drain_until(Clock::now()));
    for (const auto& tree : trees) {
      ASSERT_TRUE(settles(tree));
      ASSERT_TRUE(tree.status() == PromiseStatus::rejected || tree.get() == 21);
    }
  }
}

}  // namespace
}  // namespace heist::support
