// Rules: SCO-1, SCO-4, SCO-6: scopes that are joined by blocking, or destroyed, on the agents that
//        run their tasks.
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "scopes/scope_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

class ScopeOnAgents : public ScopeOn {
 protected:
  /// Runs `body` in a task of the scheduler, and returns what it throws.
  template <class Body>
  std::string in_task(const Scheduler& where, Body body) {
    return where.post_task([body] { return what_is_thrown_by(body); }).get();
  }
};
INSTANTIATE_TEST_SUITE_P(, ScopeOnAgents, sizes, size_name);

// Rule: SCO-4
TEST_P(ScopeOnAgents, join_when_only_its_own_agent_could_run_the_tasks_then_not_allowed) {
  int touched = 0;
  const auto body = [&] {
    TaskScope scope(bound(0));
    scope.start([last = Touching(touched)] { FAIL() << "aborted"; });
    scope.join();
  };
  EXPECT_THAT(in_task(bound(0), body), testing::HasSubstr("waiting here would never end"));
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-6
TEST_P(ScopeOnAgents, scope_when_its_own_agent_destroys_it_then_it_disposes_of_unstarted_tasks) {
  int touched = 0;
  const auto body = [&] {
    TaskScope scope(bound(0));
    for (int i = 0; i < 100; ++i) scope.start([last = Touching(touched)] {});
    for (int i = 0; i < 100; ++i) scope.start([last = Touching(touched)] {}, {.delay = 1h});
    std::thread([&] { scope.start([last = Touching(touched)] {}); }).join();
    throw std::runtime_error("on the way");
  };
  EXPECT_EQ(in_task(bound(0), body), "on the way");
  EXPECT_EQ(touched, 201);
}

// Rule: SCO-6
TEST_P(ScopeOnAgents, scope_when_all_agents_destroy_theirs_at_once_then_all_of_them_end) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> arrived{0};
    std::vector<int> touched(size());
    std::vector<Promise<void>> done;
    for (unsigned agent = 0; agent < size(); ++agent) {
      done.push_back(bound(agent).post_task([&, agent] {
        ++arrived;
        while (arrived.load() < static_cast<int>(size())) std::this_thread::yield();
        TaskScope scope(scheduler());
        for (int i = 0; i < 50; ++i) scope.start([last = Touching(touched[agent])] {});
      }));
    }
    for (const auto& one : done) one.get();
    for (const int one : touched) EXPECT_EQ(one, 50);
  }
}

// Rule: SCO-6: the signal is aborted, and another thread has not come to the scope's tasks yet.
TEST_P(ScopeOnAgents, scope_when_another_thread_is_at_its_abort_then_its_agent_waits_for_that) {
  int touched = 0;
  AbortController outer;
  test::Gate aborting;
  test::Gate waiting;
  const auto listener = outer.signal().on_abort([&] {
    aborting.open();
    waiting.wait();
  });
  std::thread aborter;
  std::thread opener;
  const auto body = [&] {
    TaskScope scope(bound(0), {.signal = outer.signal()});
    scope.start([last = Touching(touched)] { FAIL() << "aborted"; });
    aborter = std::thread([&] { outer.abort(); });
    aborting.wait();  // the scope is aborted, its task is not claimed
    opener = std::thread([&] { waiting.open(); });
  };
  EXPECT_EQ(in_task(bound(0), body), "nothing");
  EXPECT_EQ(touched, 1);
  aborter.join();
  opener.join();
}

// Rule: SCO-6
TEST_P(ScopeOnAgents, scope_when_suspended_and_its_agent_destroys_it_then_held_tasks_end) {
  int touched = 0;
  const auto held = bound(0);
  const auto body = [&] {
    TaskScope scope(held);
    scope.start([last = Touching(touched)] {});
    held.suspend();
  };
  EXPECT_EQ(in_task(held, body), "nothing");
  EXPECT_EQ(touched, 1);
  held.resume();
}

// Rule: SCO-4
TEST_P(ScopeOnAgents, join_when_a_task_of_the_scope_calls_it_then_not_allowed) {
  TaskScope scope(scheduler());
  scope.start([&] { scope.join(); });
  EXPECT_THAT(what_is_thrown_by_join(scope), testing::HasSubstr("would wait for itself"));
}

// Rule: SCO-4
TEST_P(ScopeOnAgents, join_when_a_coroutine_of_the_scope_awaits_it_then_not_allowed) {
  TaskScope scope(scheduler());
  scope.start([&]() -> Promise<void> {
    co_await yield();
    co_await scope.join();
  });
  EXPECT_THAT(what_is_thrown_by_join(scope), testing::HasSubstr("would wait for itself"));
}

// Rule: SCO-4
TEST_P(ScopeOnAgents, join_when_within_blocking_then_a_reserve_runs_the_tasks) {
  if (size() < 2) GTEST_SKIP() << "a cluster of one agent has no reserves";
  std::vector<Promise<void>> done;
  std::vector<int> ran(size());
  for (unsigned agent = 0; agent < size(); ++agent) {
    done.push_back(bound(agent).post_task([&, agent] {
      TaskScope scope(scheduler());
      scope.start([&, agent] { ran[agent] = 1; });
      blocking([&] { scope.join(); });
    }));
  }
  for (const auto& one : done) one.get();
  EXPECT_EQ(ran, std::vector<int>(size(), 1));
}

// Rule: SCO-4
TEST_P(ScopeOnAgents, join_when_the_tasks_belong_to_another_agent_then_it_blocks_for_them) {
  int local = 0;
  const Agent other;
  const auto body = [&] {
    TaskScope scope(other.scheduler());
    scope.start([&] { ++local; });
    scope.join();
    EXPECT_EQ(local, 1);
  };
  EXPECT_EQ(in_task(bound(0), body), "nothing");
}

// Rule: SCO-4
TEST_P(ScopeOnAgents, join_when_another_agent_is_free_then_it_blocks_for_stealable_tasks) {
  if (size() < 2) GTEST_SKIP() << "needs another agent";
  int local = 0;
  const auto body = [&] {
    TaskScope scope(scheduler());
    scope.start([&] { ++local; });
    scope.join();
    EXPECT_EQ(local, 1);
  };
  EXPECT_EQ(in_task(bound(0), body), "nothing");
}

// Rule: SCO-6
TEST_P(ScopeOnAgents, coroutine_when_its_yield_throws_then_its_scope_ends_with_it) {
  int touched = 0;
  AbortController of_parent;
  test::Gate begun;
  const auto parent = [&]() -> Promise<void> {
    TaskScope scope(scheduler());
    for (int i = 0; i < 20; ++i) scope.start([last = Touching(touched)] {}, {.delay = 1h});
    begun.open();
    for (;;) co_await yield();
  };
  TaskScope outer(scheduler(), {.signal = of_parent.signal()});
  outer.start(parent);
  begun.wait();
  of_parent.abort();
  EXPECT_THROW(outer.join(), AbortError);
  EXPECT_EQ(touched, 20);
}

using ScopeDeath = RuntimeFixture;

// Rule: SCO-6
TEST_F(ScopeDeath, scope_when_its_only_agent_destroys_it_under_a_coroutine_then_the_program_ends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave = [] {
    EventLoop loop(test::on_virtual_clock());
    auto never = later<void>();
    const auto parent = [&]() -> Promise<void> {
      TaskScope scope(loop.scheduler());
      scope.start([&]() -> Promise<void> { co_await never.promise; },
                  {.priority = TaskPriority::user_blocking});
      co_await yield();
      throw std::runtime_error("too early");
    };
    static_cast<void>(loop.scheduler().post_task(parent));
    loop.run_until_idle();
  };
  EXPECT_DEATH(leave(), "co_await scope.join\\(\\) before anything else");
}

}  // namespace
}  // namespace heist::support
