// fork and join: calls that run depth-first, and whose continuations other agents take. Rule:
// CLU-6.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "cluster/cluster_fixture.hpp"
#include "cluster/fib.hpp"
#include "cluster/thrown.hpp"
#include "support/live_count.hpp"
#include "support/pool_memory.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using support::LiveCount;
using test::fib;
using test::throwing;
using test::what_comes_of;

template <class T>
Forkable<T> returning(T value) {
  co_return value;
}
Forkable<> adding(std::atomic<int>& sum) {
  sum.fetch_add(1);
  co_return;
}
class ForkJoin : public testing::TestWithParam<unsigned> {
 protected:
  /// As a task of the cluster.
  template <class Call>
  auto run(Call call) {
    return cluster.scheduler().post_task(std::move(call)).get();
  }

  AgentCluster cluster{{.agents = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Agents, ForkJoin, testing::Values(1U, 2U, support::many_agents()));

TEST_P(ForkJoin, tree_when_a_callback_returns_it_then_its_result) {
  EXPECT_EQ(run([] { return fib(20); }), 6765);
}

TEST_P(ForkJoin, tree_when_awaited_in_a_coroutine_then_its_result) {
  const auto sum = [this]() -> Promise<int> {
    const int first = co_await fib(15);
    co_await cluster.scheduler().yield();
    co_return first + co_await fib(10);
  };
  EXPECT_EQ(run(sum), 610 + 55);
}

TEST_P(ForkJoin, trees_when_several_then_each_has_its_result) {
  std::vector<Promise<int>> promises;
  for (int n = 0; n < 18; ++n) {
    promises.push_back(cluster.scheduler().post_task([n] { return fib(n); }));
  }
  for (std::size_t n = 2; n < promises.size(); ++n) {
    EXPECT_EQ(promises[n].get(), promises[n - 1].get() + promises[n - 2].get());
  }
}

Forkable<> count_nodes(std::vector<std::atomic<int>>& visits, std::size_t node) {
  visits[node].fetch_add(1);
  for (std::size_t child = 4 * node + 1; child <= 4 * node + 4 && child < visits.size(); ++child) {
    co_await fork(count_nodes(visits, child));
  }
}

TEST_P(ForkJoin, node_when_its_tree_has_ended_then_it_ran_once) {
  std::vector<std::atomic<int>> visits(20'000);
  run([&visits] { return count_nodes(visits, 0); });
  for (const auto& count : visits) ASSERT_EQ(count.load(), 1);
}

TEST_P(ForkJoin, calls_when_nothing_is_stolen_then_depth_first) {
  std::vector<int> order;
  struct Tree {
    static Forkable<> visit(std::vector<int>& order, int node) {
      order.push_back(node);
      for (int child = 2 * node; child <= 2 * node + 1 && child < 8; ++child) {
        co_await fork(visit(order, child));
      }
    }
  };
  cluster.agent(0).scheduler().post_task([&order] { return Tree::visit(order, 1); }).get();
  EXPECT_EQ(order, (std::vector{1, 2, 4, 5, 3, 6, 7}));
}

TEST_P(ForkJoin, forks_when_a_million_in_one_call_then_constant_stack) {
  std::atomic<int> sum{0};
  struct Many {
    static Forkable<> fork_all(std::atomic<int>& sum, int count) {
      for (int i = 0; i < count; ++i) co_await fork(adding(sum));
    }
  };
  run([&sum] { return Many::fork_all(sum, 1'000'000); });
  EXPECT_EQ(sum.load(), 1'000'000);
}

Forkable<int> called_deep(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await called_deep(depth - 1);
}
Forkable<int> forked_deep(int depth) {
  if (depth == 0) co_return 0;
  Forked<int> below = co_await fork(forked_deep(depth - 1));
  co_await join();
  co_return 1 + below.value();
}

TEST_P(ForkJoin, calls_when_nested_deep_then_constant_stack) {
  EXPECT_EQ(run([] { return called_deep(100'000); }), 100'000);
  EXPECT_EQ(run([] { return forked_deep(100'000); }), 100'000);
}

TEST_P(ForkJoin, tree_when_run_again_then_memory_is_flat) {
  static_cast<void>(run([] { return fib(16); }));
  const auto held = support::held_by_pool();
  for (int i = 0; i < 20; ++i) static_cast<void>(run([] { return fib(16); }));
  EXPECT_LE(support::held_by_pool() - held, 8 * support::flat);
}

// Results.

TEST_P(ForkJoin, result_when_move_only_then_moved) {
  struct Tree {
    static Forkable<std::unique_ptr<int>> both() {
      Forked<std::unique_ptr<int>> a = co_await fork(returning(std::make_unique<int>(1)));
      const std::unique_ptr<int> b = co_await returning(std::make_unique<int>(2));
      co_await join();
      std::unique_ptr<int> sum = std::move(a).value();
      *sum += *b;
      co_return sum;
    }
  };
  const auto promise = cluster.scheduler().post_task([] { return Tree::both(); });
  EXPECT_EQ(*promise.get(), 3);
}

TEST_P(ForkJoin, result_when_a_reference_then_the_object_itself) {
  struct Tree {
    static Forkable<int&> same(int& object) { co_return object; }
    static Forkable<int&> forked(int& object) {
      Forked<int&> child = co_await fork(same(object));
      co_await join();
      co_return child.value();
    }
  };
  int object = 0;
  const auto promise = cluster.scheduler().post_task([&object] { return Tree::forked(object); });
  EXPECT_EQ(&promise.get(), &object);
}

Forkable<int> sum_of_forks(int count) {
  std::vector<Forked<int>> parts(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) parts[static_cast<std::size_t>(i)] = co_await fork(returning(i));
  co_await join();
  int sum = 0;
  for (auto& part : parts) sum += part.value();
  co_return sum;
}

TEST_P(ForkJoin, results_when_a_loop_forks_into_an_array_then_all_there) {
  EXPECT_EQ(run([] { return sum_of_forks(1000); }), 999 * 1000 / 2);
}

/// Too large to land in the frame of the caller.
using Large = std::array<int, 100>;
/// Its move may throw, so that it does not land either.
struct MovedAtRisk {
  explicit MovedAtRisk(int of) : value(of) {}
  MovedAtRisk(MovedAtRisk&& other) noexcept(false) : value(other.value) {}
  int value;
};

TEST_P(ForkJoin, result_when_it_stays_with_the_call_then_the_same) {
  struct Tree {
    static Forkable<MovedAtRisk> risky(int value) { co_return MovedAtRisk(value); }
    static Forkable<int> sum() {
      Forked<Large> large = co_await fork(returning(Large{1}));
      Forked<MovedAtRisk> moved = co_await fork(risky(2));
      const Large called = co_await returning(Large{4});
      const MovedAtRisk moved_back = co_await risky(8);
      co_await join();
      co_return large.value()[0] + moved.value().value + called[0] + moved_back.value;
    }
  };
  EXPECT_EQ(run([] { return Tree::sum(); }), 15);
}

/// A result that was dropped, assigned over, or moved from is destroyed by the join at the latest.
TEST_P(ForkJoin, result_when_not_wanted_any_more_then_destroyed) {
  struct Tree {
    static Forkable<> drop(const LiveCount& count) {
      co_await fork(returning(count.probe()));
      Forked<LiveCount::Probe> kept = co_await fork(returning(count.probe()));
      kept = co_await fork(returning(count.probe()));
      Forked<LiveCount::Probe> moved(std::move(kept));
      kept = std::move(moved);
      co_await join();
      EXPECT_EQ(count.alive(), 1);
    }
  };
  const LiveCount count;
  run([&count] { return Tree::drop(count); });
  EXPECT_EQ(count.alive(), 0);
}

TEST_P(ForkJoin, result_when_assigned_from_within_itself_then_it) {
  struct Link {
    int value = 0;
    std::unique_ptr<Forked<Link>> next;
  };
  struct Tree {
    static Forkable<Link> link(int value) {
      Link made;
      made.value = value;
      co_return made;
    }
    static Forkable<int> unlink() {
      Forked<Link> first = co_await fork(link(1));
      Forked<Link> second = co_await fork(link(2));
      co_await join();
      first.value().next = std::make_unique<Forked<Link>>(std::move(second));
      first = std::move(*first.value().next);
      co_return first.value().value;
    }
  };
  EXPECT_EQ(run([] { return Tree::unlink(); }), 2);
}

TEST_P(ForkJoin, call_when_nothing_of_it_is_held_then_its_parameters_are_gone_after_the_join) {
  struct Tree {
    static Forkable<> hold(LiveCount::Probe) { co_return; }
    static Forkable<> call(const LiveCount& count) {
      co_await hold(count.probe());
      EXPECT_EQ(count.alive(), 0);
      co_await fork(hold(count.probe()));
      co_await join();
      EXPECT_EQ(count.alive(), 0);
    }
  };
  const LiveCount count;
  run([&count] { return Tree::call(count); });
}

// Exceptions.

TEST_P(ForkJoin, join_when_a_child_threw_then_throws_that) {
  struct Tree {
    static Forkable<std::string> caught() {
      co_await fork(throwing("child"));
      try {
        co_await join();
      } catch (const std::runtime_error& error) {
        co_return error.what();
      }
      co_return "nothing";
    }
  };
  EXPECT_EQ(run([] { return Tree::caught(); }), "child");
}

TEST_P(ForkJoin, join_when_it_has_thrown_then_not_again) {
  struct Tree {
    static Forkable<int> joined_twice() {
      Forked<int> good = co_await fork(returning(7));
      co_await fork(throwing("child"));
      bool threw = false;
      try {
        co_await join();
      } catch (const std::runtime_error&) {
        threw = true;
      }
      co_await join();
      co_return threw ? good.value() : 0;
    }
  };
  EXPECT_EQ(run([] { return Tree::joined_twice(); }), 7);
}

TEST_P(ForkJoin, value_when_the_call_threw_then_refused) {
  struct Tree {
    static Forkable<int> throws() {
      throw std::runtime_error("child");
      co_return 1;
    }
    static Forkable<bool> refused() {
      Forked<int> child = co_await fork(throws());
      try {
        co_await join();
      } catch (const std::runtime_error&) {
      }
      try {
        static_cast<void>(child.value());
      } catch (const InvalidStateError&) {
        co_return true;
      }
      co_return false;
    }
  };
  EXPECT_TRUE(run([] { return Tree::refused(); }));
}

TEST_P(ForkJoin, call_when_it_throws_then_at_its_co_await) {
  struct Tree {
    static Forkable<> middle() { co_await throwing("leaf"); }
    static Forkable<> top() {
      co_await fork(middle());
      co_await join();
    }
  };
  EXPECT_EQ(what_comes_of(cluster.scheduler().post_task([] { return Tree::top(); })), "leaf");
}

TEST_P(ForkJoin, parent_when_it_ends_unjoined_then_throws_what_its_child_threw) {
  struct Tree {
    static Forkable<int> unjoined() {
      co_await fork(throwing("child"));
      co_return 1;
    }
  };
  EXPECT_EQ(what_comes_of(cluster.scheduler().post_task([] { return Tree::unjoined(); })), "child");
}

TEST_P(ForkJoin, awaiting_coroutine_when_the_root_throws_then_at_its_co_await) {
  const auto caught = []() -> Promise<std::string> {
    try {
      co_await throwing("root");
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing";
  };
  EXPECT_EQ(run(caught), "root");
}

// Elsewhere.

TEST(ForkJoinElsewhere, tree_when_on_an_agent_or_a_loop_then_a_program_without_forks) {
  const Agent agent;
  EXPECT_EQ(agent.scheduler().post_task([] { return fib(10); }).get(), 55);
  EventLoop loop;
  const auto promise = loop.scheduler().post_task([] { return fib(10); });
  loop.run_until_idle();
  EXPECT_EQ(promise.get(), 55);
}

TEST(ForkJoinElsewhere, tree_when_awaited_off_an_agent_then_refused) {
  const auto coroutine = []() -> Promise<int> { co_return co_await fib(3); };
  EXPECT_THROW(static_cast<void>(coroutine().get()), NotAllowedError);
}

TEST(ForkJoinElsewhere, call_when_never_run_then_destroyed_with_its_parameters) {
  const LiveCount count;
  {
    const Forkable<LiveCount::Probe> call = returning(count.probe());
    EXPECT_GE(count.alive(), 1);
  }
  EXPECT_EQ(count.alive(), 0);
}

TEST(ForkJoinElsewhere, callback_when_its_tree_has_ended_then_destroyed) {
  const LiveCount count;
  AgentCluster cluster({.agents = 2});
  const auto task = count.track([] { return fib(5); });
  EXPECT_EQ(cluster.scheduler().post_task(task).get(), 5);
  cluster.close(CloseMode::drain());
  EXPECT_EQ(count.alive(), 1);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
