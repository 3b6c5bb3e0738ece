// Rules: SCO-1, SCO-2, SCO-6: scopes that are aborted, from within and from outside.
#include <heist/heist.hpp>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "scopes/scope_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

class ScopeAborts : public ScopeOn {};
INSTANTIATE_TEST_SUITE_P(, ScopeAborts, sizes, size_name);

// Rule: SCO-1
TEST_P(ScopeAborts, join_when_tasks_were_aborted_in_the_queue_then_their_captures_are_gone) {
  for (int round = 0; round < 20; ++round) {
    std::vector<int> touched(100);
    HeldAgents held(cluster());
    TaskScope scope(scheduler());
    for (int& one : touched) scope.start([last = Touching(one)] { FAIL() << "aborted"; });
    scope.abort();
    held.let_go();
    EXPECT_THROW(scope.join(), AbortError);
    for (const int one : touched) EXPECT_EQ(one, 1);
  }
}

// Rule: SCO-1
TEST_P(ScopeAborts, join_when_delayed_tasks_are_aborted_then_their_captures_are_gone) {
  std::vector<int> touched(100);
  TaskScope scope(scheduler());
  for (int& one : touched) scope.start([last = Touching(one)] {}, {.delay = 1h});
  scope.abort(std::string("enough"));
  EXPECT_EQ(what_is_thrown_by_join(scope), "enough");
  for (const int one : touched) EXPECT_EQ(one, 1);
}

// Rule: SCO-1
TEST_P(ScopeAborts, join_when_a_running_task_is_aborted_then_it_waits_for_its_end) {
  int local = 0;
  test::Gate begun;
  TaskScope scope(scheduler());
  scope.start([&, last = Touching(local)] {
    begun.open();
    while (!scope.signal().aborted()) std::this_thread::yield();
    ++local;
  });
  begun.wait();
  scope.abort();
  EXPECT_THROW(scope.join(), AbortError);
  EXPECT_EQ(local, 2);
}

// Rule: SCO-2
TEST_P(ScopeAborts, start_when_aborted_then_refused_and_not_kept) {
  TaskScope scope(scheduler());
  scope.abort();
  EXPECT_FALSE(scope.start(tracked([] { FAIL() << "aborted"; })));
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_THROW(scope.join(), AbortError);
}

// Rule: SCO-2
TEST_P(ScopeAborts, scope_when_the_signal_of_its_options_aborts_then_with_its_reason) {
  TaskController outer;
  TaskScope scope(scheduler(), {.signal = outer.signal()});
  scope.start([] {}, {.delay = 1h});
  outer.abort(std::runtime_error("from outside"));
  EXPECT_EQ(what_is_thrown_by_join(scope), "from outside");
}

// Rule: SCO-2
TEST_P(ScopeAborts, scope_when_the_signal_of_its_options_was_aborted_then_nothing_starts) {
  AbortController outer;
  outer.abort(std::runtime_error("before"));
  TaskScope scope(scheduler(), {.signal = outer.signal()});
  EXPECT_FALSE(scope.start([] { FAIL() << "aborted"; }));
  EXPECT_EQ(what_is_thrown_by_join(scope), "before");
}

// Rule: SCO-2
TEST_P(ScopeAborts, scope_when_it_fails_then_the_signal_of_its_options_is_not_aborted) {
  AbortController outer;
  TaskScope scope(scheduler(), {.signal = outer.signal()});
  scope.start([] { throw std::runtime_error("inside"); });
  EXPECT_EQ(what_is_thrown_by_join(scope), "inside");
  EXPECT_FALSE(outer.signal().aborted());
}

// Rule: SCO-2
TEST_P(ScopeAborts, scope_within_a_scope_when_the_outer_one_fails_then_both_end) {
  if (size() < 2) GTEST_SKIP() << "a blocking join needs another agent";
  int local = 0;
  TaskScope outer(scheduler());
  outer.start([&] {
    TaskScope inner(scheduler(), {.signal = outer.signal()});
    for (int i = 0; i < 10; ++i) inner.start([last = Touching(local)] {}, {.delay = 1h});
    outer.start([] { throw std::runtime_error("outer"); });
    EXPECT_EQ(what_is_thrown_by_join(inner), "outer");
    EXPECT_EQ(local, 10);
  });
  EXPECT_EQ(what_is_thrown_by_join(outer), "outer");
  EXPECT_EQ(local, 10);
}

// Rule: SCO-2
TEST_P(ScopeAborts, join_when_many_threads_start_and_abort_then_everything_has_ended) {
  for (int round = 0; round < 20; ++round) {
    std::vector<int> touched(400);
    std::vector<std::thread> threads;
    TaskScope scope(scheduler());
    std::latch begin(5);
    for (unsigned thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        begin.arrive_and_wait();
        for (unsigned i = 0; i < 100; ++i)
          scope.start([last = Touching(touched[100 * thread + i])] {});
      });
    }
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      scope.abort();
    });
    for (auto& thread : threads) thread.join();
    EXPECT_THAT(what_is_thrown_by_join(scope), testing::Not("nothing"));
    for (const int one : touched) EXPECT_EQ(one, 1);
  }
}

// Rule: SCO-6
TEST_P(ScopeAborts, scope_when_destroyed_unjoined_then_it_aborts_and_waits) {
  int local = 0;
  test::Gate begun;
  {
    TaskScope scope(scheduler());
    scope.start([&, last = Touching(local)] {
      begun.open();
      while (!scope.signal().aborted()) std::this_thread::yield();
    });
    scope.start([last = Touching(local)] { FAIL() << "aborted"; }, {.delay = 1h});
    begun.wait();
  }
  EXPECT_EQ(local, 2);
}

// Rule: SCO-6
TEST_P(ScopeAborts, scope_when_an_exception_passes_it_then_it_aborts_and_waits) {
  int local = 0;
  const auto throwing = [&] {
    TaskScope scope(scheduler());
    scope.start([last = Touching(local)] {}, {.delay = 1h});
    throw std::runtime_error("on the way");
  };
  EXPECT_EQ(what_is_thrown_by(throwing), "on the way");
  EXPECT_EQ(local, 1);
}

}  // namespace
}  // namespace heist::support
