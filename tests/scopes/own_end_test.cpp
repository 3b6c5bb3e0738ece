// Rule: SCO-6: scopes that are destroyed by what they would have to wait for, and by what only
//       looks like that.
#include <heist/heist.hpp>
#include <memory>
#include <string>

#include "scopes/scope_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const auto ends_within_itself = AllOf(HasSubstr("would wait for itself"), Not(HasSubstr("what()")));

/// A child process that ends at the first hang.
class ScopeOfItsOwn : public RuntimeFixture {
 protected:
  static void SetUpTestSuite() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Starts a task that has the last reference to its own scope.
  static std::shared_ptr<TaskScope> owned_by_its_task(const Scheduler& where, Delay delay,
                                                      const TaskScopeOptions& options = {}) {
    auto scope = std::make_shared<TaskScope>(where, options);
    scope->start([scope] {}, {.delay = delay});
    return scope;
  }
};

// Rule: SCO-6
TEST_F(ScopeOfItsOwn, scope_when_its_task_owns_it_and_has_run_then_the_program_ends) {
  const auto leave = [] {
    EventLoop loop;
    owned_by_its_task(loop.scheduler(), {}).reset();
    loop.run_until_idle();
  };
  EXPECT_DEATH(leave(), ends_within_itself);
}

// Rule: SCO-6
TEST_F(ScopeOfItsOwn, scope_when_its_task_owns_it_and_is_aborted_then_the_program_ends) {
  const auto leave = [] {
    EventLoop loop;
    auto scope = owned_by_its_task(loop.scheduler(), {});
    scope->abort();
    scope.reset();
    loop.run_until_idle();
  };
  EXPECT_DEATH(leave(), ends_within_itself);
}

// Rule: SCO-6
TEST_F(ScopeOfItsOwn, scope_when_its_task_owns_it_and_a_close_drops_it_then_the_program_ends) {
  const auto leave = [] {
    EventLoop loop;
    owned_by_its_task(loop.scheduler(), 1h).reset();
    loop.close(CloseMode::abort());
  };
  EXPECT_DEATH(leave(), ends_within_itself);
}

// Rule: SCO-6
TEST_F(ScopeOfItsOwn, scope_when_its_task_in_a_cluster_owns_it_then_the_program_ends) {
  const auto abort = [] {
    AgentCluster cluster({.agents = 2});
    AbortController controller;
    owned_by_its_task(cluster.scheduler(), 1h, {.signal = controller.signal()}).reset();
    controller.abort();
    cluster.close(CloseMode::drain());
  };
  EXPECT_DEATH(abort(), ends_within_itself);
  const auto close = [] {
    AgentCluster cluster({.agents = 2});
    owned_by_its_task(cluster.scheduler(), 1h).reset();
    cluster.close(CloseMode::abort());
  };
  EXPECT_DEATH(close(), ends_within_itself);
}

// Rule: SCO-6
TEST_F(ScopeOfItsOwn, scope_when_a_loop_within_its_task_destroys_it_then_the_program_ends) {
  const auto leave = [] {
    EventLoop outer;
    auto scope = std::make_unique<TaskScope>(outer.scheduler());
    scope->start([&] {
      EventLoop inner;
      inner.scheduler().post([&] { scope.reset(); });
      inner.run_until_idle();
    });
    outer.run_until_idle();
  };
  EXPECT_DEATH(leave(), ends_within_itself);
}

// Rule: SCO-4
TEST_F(ScopeOfItsOwn, join_when_a_loop_within_its_task_calls_it_then_not_allowed) {
  EventLoop outer;
  TaskScope scope(outer.scheduler());
  std::string thrown;
  scope.start([&] {
    EventLoop inner;
    inner.scheduler().post([&] {
      scope.abort();
      thrown = what_is_thrown_by_join(scope);
    });
    inner.run_until_idle();
  });
  outer.run_until_idle();
  EXPECT_THAT(thrown, HasSubstr("would wait for itself"));
  EXPECT_THROW(scope.join(), AbortError);
}

// Rule: SCO-6: the task disposes of the capture that owns its scope, as it destroys another one.
TEST_F(ScopeOfItsOwn, scope_when_a_capture_within_its_task_owns_it_then_the_program_ends) {
  const auto leave = [] {
    EventLoop loop;
    auto scope = std::make_shared<TaskScope>(loop.scheduler());
    scope->start([&] {
      TaskScope within(loop.scheduler());
      within.start([last = std::move(scope)] {});
    });
    loop.run_until_idle();
  };
  EXPECT_DEATH(leave(), ends_within_itself);
}

// Rule: SCO-6
TEST_F(ScopeOfItsOwn, scope_when_its_coroutine_destroys_it_then_the_program_ends) {
  const auto leave = [](unsigned agents) {
    AgentCluster cluster({.agents = agents});
    auto scope = std::make_unique<TaskScope>(cluster.scheduler());
    scope->start([&]() -> Promise<void> {
      co_await yield();
      scope.reset();
    });
    cluster.close(CloseMode::drain());
  };
  EXPECT_DEATH(leave(1), ends_within_itself);
  EXPECT_DEATH(leave(2), ends_within_itself);
}

// Rule: SCO-6
TEST_F(ScopeOfItsOwn, scope_when_the_frame_of_its_coroutine_owns_it_then_a_close_ends_the_program) {
  const auto leave = [] {
    EventLoop loop;
    auto never = later<void>();
    auto scope = std::make_shared<TaskScope>(loop.scheduler());
    scope->start([&scope, &never]() -> Promise<void> {
      const auto last = std::move(scope);
      co_await never.promise;
    });
    loop.run_until_idle();
    loop.close(CloseMode::abort());
    never.resolve();
  };
  EXPECT_DEATH(leave(), ends_within_itself);
}

// Rule: SCO-6: it has the signal of the scope, and is none of its tasks.
TEST_F(ScopeOfItsOwn, scope_when_another_task_with_its_signal_destroys_it_then_it_waits) {
  int touched = 0;
  EventLoop loop;
  auto scope = std::make_unique<TaskScope>(loop.scheduler());
  for (int i = 0; i < 10; ++i) scope->start([last = Touching(touched)] {}, {.delay = 1h});
  int seen = -1;
  loop.scheduler().post(
      [&] {
        scope.reset();
        seen = touched;
      },
      {.signal = scope->signal()});
  loop.run_until_idle();
  EXPECT_EQ(seen, 10);
}

}  // namespace
}  // namespace heist::support
