// Rules: SCO-1, SCO-3: scopes across the close of the loop, the agent or the cluster that runs
//        their tasks.
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scopes/scope_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

class ScopeCloses : public ScopeOn {};
INSTANTIATE_TEST_SUITE_P(, ScopeCloses, sizes, size_name);

// Rule: SCO-3
TEST_P(ScopeCloses, start_when_the_cluster_is_closed_then_refused_and_join_says_so) {
  int touched = 0;
  TaskScope scope(scheduler());
  cluster().close(CloseMode::abort());
  EXPECT_FALSE(scope.start([last = Touching(touched)] {}));
  EXPECT_EQ(touched, 1);
  EXPECT_THROW(scope.join(), InvalidStateError);
}

// Rule: SCO-3
TEST_P(ScopeCloses, join_when_a_close_has_dropped_tasks_then_it_throws_abort_error) {
  int touched = 0;
  TaskScope scope(scheduler());
  for (int i = 0; i < 10; ++i) scope.start([last = Touching(touched)] {}, {.delay = 1h});
  cluster().close(CloseMode::abort());
  EXPECT_THROW(scope.join(), AbortError);
  EXPECT_EQ(touched, 10);
}

// Rule: SCO-1
TEST_P(ScopeCloses, join_when_a_close_drains_then_the_tasks_have_run) {
  std::atomic<int> ran{0};
  TaskScope scope(scheduler());
  for (int i = 0; i < 100; ++i) scope.start([&] { ++ran; });
  cluster().close(CloseMode::drain());
  scope.join();
  EXPECT_EQ(ran.load(), 100);
}

// Rule: SCO-1
TEST_P(ScopeCloses, join_when_a_close_comes_while_tasks_are_started_then_everything_has_ended) {
  std::vector<int> touched(2000);
  std::optional<TaskScope> scope(std::in_place, scheduler());
  test::Gate begun;
  std::thread starter([&] {
    begun.open();
    for (int& one : touched) scope->start([last = Touching(one)] {});
    static_cast<void>(what_is_thrown_by_join(*scope));
    for (const int one : touched) EXPECT_EQ(one, 1);
  });
  begun.wait();
  cluster().close(CloseMode::abort());
  starter.join();
}

// Rule: SCO-1
TEST_P(ScopeCloses, join_when_the_deadline_of_a_close_comes_then_it_waits_for_the_running_task) {
  int local = 0;
  test::Gate begun;
  test::Gate gate;
  TaskScope scope(scheduler());
  scope.start([&, last = Touching(local)] {
    begun.open();
    gate.wait();
    ++local;
  });
  begun.wait();
  const auto report = cluster().close(CloseMode::drain_until(std::chrono::steady_clock::now()));
  EXPECT_EQ(report.still_running, 1U);
  gate.open();
  scope.join();
  EXPECT_EQ(local, 2);
}

// Rule: SCO-1
TEST_P(ScopeCloses, coroutine_when_a_close_ends_it_then_its_frame_goes_before_the_join_returns) {
  int touched = 0;
  test::Gate begun;
  TaskScope scope(scheduler());
  scope.start([&begun, last = Touching(touched)]() -> Promise<void> {
    auto limit = sleep_for(1h);
    begun.open();
    co_await limit;
  });
  begun.wait();
  cluster().close(CloseMode::abort());
  EXPECT_THAT(what_is_thrown_by_join(scope), testing::Not("nothing"));
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-1
TEST_P(ScopeCloses, parent_when_a_close_destroys_it_at_a_join_then_its_children_have_ended) {
  std::atomic<int> alive{0};
  std::vector<int> touched(10);
  test::Gate begun;
  const auto parent = [&]() -> Promise<void> {
    int local = 0;
    TaskScope scope(scheduler());
    scope.start([&]() -> Promise<void> {
      ++alive;
      const AtDestruction dies([&] {
        ++local;
        --alive;
      });
      auto limit = sleep_for(1h);
      begun.open();
      co_await limit;
    });
    for (int& one : touched) scope.start([last = Touching(one)] {}, {.delay = 1h});
    co_await scope.join();
  };
  const auto promise = scheduler().post_task(parent);
  begun.wait();
  cluster().close(CloseMode::abort());
  EXPECT_TRUE(promise.settled());
  static_cast<void>(promise.reason());  // a start that the close refused is an error of the parent
  EXPECT_EQ(alive.load(), 0);
  for (const int one : touched) EXPECT_EQ(one, 1);
}

// Rule: SCO-6
TEST_P(ScopeCloses, parent_when_a_close_destroys_it_before_its_join_then_its_tasks_have_ended) {
  std::vector<int> touched(60);
  test::Gate begun;
  const auto parent = [&]() -> Promise<void> {
    TaskScope scope(scheduler());
    for (unsigned i = 0; i < 30; ++i)
      scope.start([last = Touching(touched[i])] {}, {.priority = TaskPriority::background});
    for (unsigned i = 30; i < 60; ++i) scope.start([last = Touching(touched[i])] {}, {.delay = 1h});
    auto limit = sleep_for(1h);
    begun.open();
    co_await limit;
  };
  const auto promise = scheduler().post_task(parent);
  begun.wait();
  cluster().close(CloseMode::abort());
  EXPECT_TRUE(promise.settled());
  static_cast<void>(promise.reason());  // a start that the close refused is an error of the parent
  for (const int one : touched) EXPECT_EQ(one, 1);
}

using ScopeOfALoop = RuntimeFixture;

// Rule: SCO-6
TEST_F(ScopeOfALoop, parent_when_the_close_drops_its_continuation_then_its_tasks_have_ended) {
  int touched = 0;
  EventLoop loop(test::on_virtual_clock());
  loop.scheduler().post([&] {
    const auto parent = [&]() -> Promise<void> {
      TaskScope scope(loop.scheduler());
      for (int i = 0; i < 10; ++i) scope.start([last = Touching(touched)] {});
      for (int i = 0; i < 10; ++i) scope.start([last = Touching(touched)] {}, {.delay = 1h});
      co_await yield();
    };
    static_cast<void>(parent());
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(touched, 0);
  loop.close(CloseMode::abort());
  EXPECT_EQ(touched, 20);
}

// Rule: SCO-1
TEST_F(ScopeOfALoop, scope_when_its_loop_is_gone_then_join_returns) {
  int touched = 0;
  std::optional<EventLoop> loop(std::in_place);
  TaskScope scope(loop->scheduler());
  scope.start([last = Touching(touched)] {});
  loop.reset();
  EXPECT_THROW(scope.join(), AbortError);
  EXPECT_EQ(touched, 1);
}

}  // namespace
}  // namespace heist::support
