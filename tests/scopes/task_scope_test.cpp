// Rules: SCO-1, SCO-2, SCO-5: a scope whose tasks run to their end, or fail.
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "scopes/scope_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(, ScopeOn, sizes, size_name);

// Rule: SCO-1
TEST_P(ScopeOn, join_when_tasks_refer_to_locals_then_all_of_them_have_ended) {
  for (int round = 0; round < 50; ++round) {
    std::vector<int> results(20);
    std::vector<int> touched(20);
    TaskScope scope(scheduler());
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(scope.start([&, i, last = Touching(touched[static_cast<unsigned>(i)])] {
        results[static_cast<unsigned>(i)] = i;
      }));
    }
    scope.join();
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(results[static_cast<unsigned>(i)], i);
      EXPECT_EQ(touched[static_cast<unsigned>(i)], 1);
    }
  }
}

// Rule: SCO-1
TEST_P(ScopeOn, scope_when_nothing_was_started_then_join_returns) {
  TaskScope scope(scheduler());
  scope.join();
  EXPECT_FALSE(scope.signal().aborted());
}

// Rule: SCO-1
TEST_P(ScopeOn, scope_when_a_task_starts_more_then_join_waits_for_these) {
  int depth = 0;
  TaskScope scope(scheduler());
  std::function<void()> step = [&] {
    if (++depth < 100) scope.start([&] { step(); });
  };
  scope.start([&] { step(); });
  scope.join();
  EXPECT_EQ(depth, 100);
}

// Rule: SCO-1
TEST_P(ScopeOn, scope_when_delayed_then_join_waits_for_the_delay) {
  bool ran = false;
  TaskScope scope(scheduler());
  scope.start([&] { ran = true; }, {.delay = 5ms});
  scope.join();
  EXPECT_TRUE(ran);
}

// Rule: SCO-2
TEST_P(ScopeOn, join_when_a_task_throws_then_it_throws_that_and_the_rest_is_aborted) {
  std::atomic<int> ran{0};
  TaskScope scope(scheduler());
  scope.start([&] { throw std::runtime_error("the first"); });
  for (int i = 0; i < 100; ++i) {
    scope.start([&] { ++ran; }, {.priority = TaskPriority::background, .delay = 1h});
  }
  EXPECT_EQ(what_is_thrown_by_join(scope), "the first");
  EXPECT_EQ(ran.load(), 0);
  EXPECT_TRUE(scope.signal().aborted());
}

// Rule: SCO-2
TEST_P(ScopeOn, join_when_several_tasks_throw_then_it_throws_the_first_and_no_hook_hears_more) {
  TaskScope scope(scheduler());
  test::Gate first;
  test::Gate may_start;
  scope.start([&] {
    may_start.wait();
    first.open();
    throw std::runtime_error("the first");
  });
  if (size() > 1) {
    scope.start([&] {
      first.wait();
      while (!scope.signal().aborted()) std::this_thread::yield();
      throw std::runtime_error("a later one");
    });
  }
  may_start.open();
  EXPECT_EQ(what_is_thrown_by_join(scope), "the first");
}

// Rule: SCO-2
TEST_P(ScopeOn, join_when_called_again_then_it_throws_the_same) {
  TaskScope scope(scheduler());
  scope.start([] { throw std::runtime_error("once"); });
  EXPECT_EQ(what_is_thrown_by_join(scope), "once");
  EXPECT_EQ(what_is_thrown_by_join(scope), "once");
}

// Rule: SCO-2
TEST_P(ScopeOn, join_when_aborted_after_the_last_task_then_it_returns) {
  TaskScope scope(scheduler());
  scope.start([] {});
  scope.join();
  scope.abort();
  scope.join();
  EXPECT_TRUE(scope.signal().aborted());
}

// Rule: SCO-2
TEST_P(ScopeOn, task_when_it_throws_a_plain_value_then_join_throws_aborted_with_it) {
  TaskScope scope(scheduler());
  scope.start([] { throw Aborted(Reason(std::string("plain"))); });
  EXPECT_THROW(scope.join(), Aborted);
  EXPECT_EQ(what_is_thrown_by_join(scope), "plain");
}

// Rule: SCO-5
TEST_P(ScopeOn, start_when_the_scope_has_ended_then_invalid_state_error) {
  TaskScope scope(scheduler());
  scope.join();
  EXPECT_THROW(scope.start([] {}), InvalidStateError);
  EXPECT_EQ(what_is_thrown_by_join(scope), "nothing");
}

// Rule: SCO-5
TEST_P(ScopeOn, start_when_given_nothing_to_call_then_refused_and_the_scope_goes_on) {
  bool ran = false;
  TaskScope scope(scheduler());
  EXPECT_THROW(scope.start(std::function<void()>()), std::invalid_argument);
  EXPECT_THROW(scope.start([] {}, {.priority = static_cast<TaskPriority>(9)}),
               std::invalid_argument);
  scope.start([&] { ran = true; });
  scope.join();
  EXPECT_TRUE(ran);
}

struct ThrowsWhenCopied {
  ThrowsWhenCopied() = default;
  ThrowsWhenCopied(const ThrowsWhenCopied& /*other*/) { throw std::runtime_error("no copy"); }
  ThrowsWhenCopied& operator=(const ThrowsWhenCopied&) = delete;
  void operator()() const {}
};

// Rule: SCO-5
TEST_P(ScopeOn, start_when_the_callback_cannot_be_copied_then_it_throws_and_the_scope_goes_on) {
  TaskScope scope(scheduler());
  const ThrowsWhenCopied callback;
  EXPECT_EQ(what_is_thrown_by([&] { scope.start(callback); }), "no copy");
  scope.join();
  EXPECT_FALSE(scope.signal().aborted());
}

TEST_P(ScopeOn, scope_when_options_are_wrong_then_invalid_argument) {
  EXPECT_THROW(TaskScope(scheduler(), {.priority = static_cast<TaskPriority>(9)}),
               std::invalid_argument);
  AbortSignal signal = AbortController().signal();
  const AbortSignal moved = std::move(signal);
  EXPECT_THROW(TaskScope(scheduler(), {.signal = signal}), std::invalid_argument);
  Scheduler gone = scheduler();
  const Scheduler taken = std::move(gone);
  EXPECT_THROW(TaskScope{gone}, std::invalid_argument);
}

/// On one loop, in exact order.
class ScopeOrder : public RuntimeFixture {
 protected:
  EventLoop loop{test::on_virtual_clock()};
  Scheduler scheduler = loop.scheduler();
};

TEST_F(ScopeOrder, tasks_when_scope_and_start_name_priorities_then_the_nearest_one_counts) {
  TaskScope scope(scheduler, {.priority = TaskPriority::background});
  scope.start(note("scope's"));
  scope.start(note("own"), {.priority = TaskPriority::user_blocking});
  scheduler.post(note("another's"));
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), testing::ElementsAre("own", "another's", "scope's"));
  scope.join();
}

TEST_F(ScopeOrder, tasks_when_the_signal_has_a_priority_then_they_follow_it) {
  TaskController outer(TaskPriority::background);
  TaskScope scope(scheduler, {.signal = outer.signal()});
  scope.start(note("scope's"));
  scheduler.post(note("another's"));
  outer.set_priority(TaskPriority::user_blocking);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), testing::ElementsAre("scope's", "another's"));
  scope.join();
}

// Rule: SCO-1
TEST_F(ScopeOrder, task_when_it_ends_then_its_captures_go_before_the_join_is_told) {
  TaskScope scope(scheduler);
  scope.start(
      [this, last = AtDestruction([this] { trace.add("captures"); })] { trace.add("task"); });
  const auto joined = [](TaskScope& of, Trace& to) -> Promise<void> {
    co_await of.join();
    to.add("joined");
  };
  const auto waiter = scheduler.post_task([&] { return joined(scope, trace); });
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), testing::ElementsAre("task", "captures", "joined"));
  EXPECT_EQ(waiter.status(), PromiseStatus::fulfilled);
}

// Rule: SCO-6
TEST_F(ScopeOrder, scope_when_destroyed_after_a_failure_that_nobody_saw_then_the_hook_hears_it) {
  {
    TaskScope scope(scheduler);
    scope.start([] { throw std::runtime_error("unseen"); });
    loop.run_until_idle();
  }
  EXPECT_THAT(errors.take(),
              testing::ElementsAre(RecordedError{ErrorOrigin::unobserved_rejection, "unseen"}));
}

}  // namespace
}  // namespace heist::support
