// Rule: PRO-1, CLU-5: what is left to do of a stealable task or coroutine is done by whoever is
// free, while the agent that began it, or that settled what it awaits, waits for it.
#include <heist/agent_cluster.hpp>

#include "cluster/cluster_fixture.hpp"
#include "cluster/fib.hpp"

namespace heist::support {
namespace {

using test::fib;

Promise<int> add_one(Promise<int> to) { co_return co_await to + 1; }
Promise<int> await_tree() { co_return co_await fib(5); }
Promise<void> open_after_tree(test::Gate& gate) {
  co_await fib(5);
  gate.open();
}

class ClusterAdoption : public ClusterOf {
 protected:
  void SetUp() override {
    ClusterOf::SetUp();
    held.emplace(cluster());
  }
  void TearDown() override {
    held.reset();
    ClusterOf::TearDown();
  }
  /// A stealable task that agent 0 has run when this returns, while all others are held.
  template <class Callback>
  auto run_on_the_first(Callback callback) {
    held->let_go(0);
    const auto task = scheduler().post_task(std::move(callback));
    bound(0).post_task([] {}).get();
    return task;
  }
  /// Whether a wait of an agent for a task ends; bounded, so that one that does not is told of.
  static bool ends(const Promise<int>& task) { return settles(task); }

  std::optional<HeldAgents> held;
  const Later<int> returned = later<int>();
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterAdoption, several_agents, size_name);

TEST_P(ClusterAdoption, wait_when_on_the_agent_that_began_the_coroutine_then_another_one_ends_it) {
  const auto task = run_on_the_first([this] { return add_one(returned.promise); });
  const auto waits = bound(0).post_task([&] {
    held->let_go();
    returned.resolve(6);
    return ends(task);
  });
  EXPECT_TRUE(waits.get()) << "it hangs";
  EXPECT_EQ(task.get(), 7);
}

// Who settles it is the one that waits: what is left to do is another one's.
TEST_P(ClusterAdoption, wait_when_the_waiter_has_settled_what_was_returned_then_it_ends) {
  const auto task = run_on_the_first([this] { return returned.promise; });
  const auto waits = bound(1).post_task([&] {
    returned.resolve(7);
    return ends(task);
  });
  held->let_go();
  EXPECT_TRUE(waits.get()) << "it hangs";
  EXPECT_EQ(task.get(), 7);
}

TEST_P(ClusterAdoption, wait_when_a_reaction_has_returned_the_promise_then_it_ends) {
  const auto task = run_on_the_first(
      [this] { return Promise<void>::resolved().then([this] { return returned.promise; }); });
  held->let_go();
  const auto waits = bound(0).post_task([&] {
    returned.resolve(7);
    return ends(task);
  });
  EXPECT_TRUE(waits.get()) << "it hangs";
}

TEST_P(ClusterAdoption, wait_when_for_a_coroutine_that_has_awaited_a_tree_here_then_it_ends) {
  const auto waits = scheduler().post_task([] { return ends(await_tree()); });
  held->let_go();
  EXPECT_TRUE(waits.get()) << "it hangs";
}

TEST_P(ClusterAdoption, blocking_when_a_coroutine_has_awaited_a_tree_here_then_it_goes_on) {
  test::Gate went_on;
  const auto blocks = scheduler().post_task([&went_on] {
    const auto coroutine = open_after_tree(went_on);
    return blocking([&went_on] { return went_on.opens(); });
  });
  held->let_go();
  EXPECT_TRUE(blocks.get()) << "it hangs";
}

}  // namespace
}  // namespace heist::support
