// Fork and join on two agents: what happens when one takes over what the other has forked. Rule:
// CLU-6.
#include <gtest/gtest.h>

#include <atomic>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <stdexcept>
#include <thread>

#include "cluster/cluster_fixture.hpp"
#include "cluster/fib.hpp"
#include "cluster/thrown.hpp"
#include "support/live_count.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using support::LiveCount;
using test::fib;
using test::throwing;
using test::what_comes_of;

/// What two calls tell each other while both are on a stack: it comes true only when they run on
/// two agents.
class Flag {
 public:
  void set() { set_.store(true); }
  [[nodiscard]] bool is_set() const { return set_.load(); }
  void wait() const {
    while (!is_set()) std::this_thread::yield();
  }

 private:
  std::atomic<bool> set_{false};
};

Forkable<> waiting_for(const Flag& flag, std::atomic<int>& done) {
  flag.wait();
  done.fetch_add(1);
  co_return;
}

/// With an agent to spare.
class ForkJoinOnTwo : public testing::Test {
 protected:
  AgentCluster cluster{{.agents = 2}};
};

TEST_F(ForkJoinOnTwo, parent_when_it_throws_while_a_child_runs_then_ends_after_it) {
  struct SetAtEnd {
    explicit SetAtEnd(Flag& to_set) : flag(to_set) {}
    SetAtEnd(const SetAtEnd&) = delete;
    SetAtEnd& operator=(const SetAtEnd&) = delete;
    ~SetAtEnd() { flag.set(); }
    Flag& flag;
  };
  struct Tree {
    static Forkable<> parent(Flag& flag, std::atomic<int>& done) {
      const SetAtEnd unwound(flag);
      co_await fork(waiting_for(flag, done));
      throw std::runtime_error("parent");
    }
  };
  Flag flag;
  std::atomic<int> done{0};
  const auto promise = cluster.scheduler().post_task([&] { return Tree::parent(flag, done); });
  EXPECT_EQ(what_comes_of(promise), "parent");
  EXPECT_EQ(done.load(), 1);
}

TEST_F(ForkJoinOnTwo, continuation_when_an_agent_is_idle_then_stolen) {
  struct Tree {
    static Forkable<> parent(Flag& flag, std::atomic<int>& done) {
      const auto before = std::this_thread::get_id();
      co_await fork(waiting_for(flag, done));
      EXPECT_NE(std::this_thread::get_id(), before);
      flag.set();
      co_await join();
      EXPECT_EQ(done.load(), 1);
    }
  };
  Flag flag;
  std::atomic<int> done{0};
  cluster.scheduler().post_task([&] { return Tree::parent(flag, done); }).get();
  EXPECT_GE(cluster.stats().stolen, 1U);
}

TEST_F(ForkJoinOnTwo, result_when_dropped_while_the_child_runs_then_destroyed_by_the_join) {
  struct Tree {
    static Forkable<LiveCount::Probe> child(Flag& flag, LiveCount::Probe probe) {
      flag.wait();
      co_return probe;
    }
    static Forkable<> parent(Flag& flag, const LiveCount& count) {
      co_await fork(child(flag, count.probe()));
      EXPECT_GE(count.alive(), 1);
      flag.set();
      co_await join();
      EXPECT_EQ(count.alive(), 0);
    }
  };
  Flag flag;
  const LiveCount count;
  cluster.scheduler().post_task([&] { return Tree::parent(flag, count); }).get();
}

TEST_F(ForkJoinOnTwo, children_when_several_throw_beside_each_other_then_join_throws_one) {
  struct Tree {
    static Forkable<> thrower(Flag& flag) {
      flag.wait();
      throw std::runtime_error("child");
      co_return;
    }
    static Forkable<> parent(Flag& flag) {
      co_await fork(thrower(flag));
      flag.set();
      co_await fork(throwing("child"));
      co_await join();
    }
  };
  Flag flag;
  EXPECT_EQ(what_comes_of(cluster.scheduler().post_task([&] { return Tree::parent(flag); })),
            "child");
}

TEST_F(ForkJoinOnTwo, state_when_a_continuation_was_stolen_then_the_roots) {
  struct Tree {
    static Forkable<bool> parent(Flag& flag, std::atomic<int>& done, Scheduler scheduler) {
      co_await fork(waiting_for(flag, done));
      const bool same = Scheduler::current() == scheduler;
      flag.set();
      co_await join();
      co_return same&& Scheduler::current() == scheduler;
    }
  };
  Flag flag;
  std::atomic<int> done{0};
  EXPECT_TRUE(cluster.scheduler()
                  .post_task([&] { return Tree::parent(flag, done, cluster.scheduler()); })
                  .get());
}

TEST_F(ForkJoinOnTwo, continuation_when_something_is_more_urgent_then_after_it) {
  struct Tree {
    static Forkable<> parent(Flag& begun, Flag& flag, std::atomic<int>& urgent) {
      co_await fork(child(begun, flag));
      EXPECT_EQ(urgent.load(), 1);
      flag.set();
    }
    static Forkable<> child(Flag& begun, Flag& flag) {
      begun.set();
      flag.wait();
      co_return;
    }
  };
  Flag held;
  Flag hold;
  cluster.scheduler().post([&] {
    held.set();
    hold.wait();
  });
  held.wait();
  Flag begun;
  Flag flag;
  std::atomic<int> urgent{0};
  const auto tree =
      cluster.scheduler().post_task([&] { return Tree::parent(begun, flag, urgent); });
  begun.wait();
  cluster.scheduler().post([&] { urgent.fetch_add(1); }, {.priority = TaskPriority::user_blocking});
  hold.set();
  tree.get();
}

// Rule: PRI-6: what picks use has changed at once, also where a dependent signal still shows what
//         its listeners know.
TEST_F(ForkJoinOnTwo, continuation_when_a_change_is_being_told_then_by_what_picks_use) {
  struct Tree {
    static Forkable<> parent(test::Gate& begun, Flag& started, std::atomic<bool>& was_first) {
      co_await fork(child(begun, started));
      if (!started.is_set()) was_first = true;
      started.set();
    }
    static Forkable<> child(test::Gate& begun, Flag& started) {
      begun.open();
      started.wait();
      co_return;
    }
  };
  test::Gate begun;
  Flag started;
  std::atomic<bool> was_first{false};
  support::HeldAgents held(cluster);
  TaskController controller(TaskPriority::background);
  const auto dependent = TaskSignal::any({controller.signal()}, controller.signal());
  const auto tree = cluster.scheduler().post_task(
      [&] { return Tree::parent(begun, started, was_first); }, {.signal = dependent});
  const auto told = controller.signal().on_priority_change([&] {
    EXPECT_EQ(dependent.priority(), TaskPriority::background);
    held.let_go(0);
    begun.wait();
  });
  controller.set_priority(TaskPriority::user_blocking);
  const auto other = cluster.scheduler().post_task([&] { started.set(); });
  held.let_go(1);
  tree.get();
  other.get();
  EXPECT_TRUE(was_first.load());
}

TEST_F(ForkJoinOnTwo, tree_when_aborted_while_it_runs_then_rejects_at_once_and_runs_on) {
  // Rule: ABT-6
  struct Tree {
    static Forkable<int> parent(Flag& begun, Flag& flag, std::atomic<int>& done,
                                AbortSignal signal) {
      co_await fork(waiting_for(flag, done));
      begun.set();
      flag.wait();
      EXPECT_TRUE(signal.aborted());
      co_await join();
      done.fetch_add(1);
      co_return 1;
    }
  };
  Flag begun;
  Flag flag;
  std::atomic<int> done{0};
  AbortController controller;
  const auto tree = cluster.scheduler().post_task(
      [&] { return Tree::parent(begun, flag, done, controller.signal()); },
      {.signal = controller.signal()});
  begun.wait();
  controller.abort();
  EXPECT_EQ(tree.status(), PromiseStatus::rejected);
  EXPECT_EQ(done.load(), 0);
  flag.set();
  cluster.close(CloseMode::drain());
  EXPECT_EQ(done.load(), 2);
}

TEST_F(ForkJoinOnTwo, tree_when_begun_within_a_call_of_another_then_both_end) {
  struct Trees {
    static Promise<int> inner() { co_return co_await fib(12); }
    static Forkable<int> outer(int depth) {
      if (depth == 0) co_return 0;
      Forked<int> a = co_await fork(outer(depth - 1));
      Promise<int> other = inner();
      const int b = co_await outer(depth - 1);
      co_await join();
      static_cast<void>(other);
      co_return a.value() + b + 1;
    }
  };
  EXPECT_EQ(cluster.scheduler().post_task([] { return Trees::outer(6); }).get(), 63);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
