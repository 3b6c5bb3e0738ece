// Rules: SCO-1, SCO-2, SCO-4: coroutines in scopes, and coroutines that await a join.
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "scopes/scope_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

class ScopeCoroutines : public ScopeOn {
 protected:
  /// Yields so often, and counts it.
  static Promise<void> counting(int& count, int times, Touching /*last*/) {
    for (int i = 0; i < times; ++i) {
      co_await yield();
      ++count;
    }
  }
  static Promise<void> failing(std::string what, Touching /*last*/) {
    co_await yield();
    throw std::runtime_error(what);
  }
};
INSTANTIATE_TEST_SUITE_P(, ScopeCoroutines, sizes, size_name);

// Rule: SCO-1
TEST_P(ScopeCoroutines, join_when_coroutines_have_yielded_then_their_frames_are_gone) {
  for (int round = 0; round < 20; ++round) {
    std::vector<int> counts(10);
    std::vector<int> touched(10);
    TaskScope scope(scheduler());
    for (unsigned i = 0; i < 10; ++i) {
      scope.start([&, i] { return counting(counts[i], 5, Touching(touched[i])); });
    }
    scope.join();
    EXPECT_EQ(counts, std::vector<int>(10, 5));
    EXPECT_EQ(touched, std::vector<int>(10, 1));
  }
}

// Rule: SCO-1
TEST_P(ScopeCoroutines, lambda_coroutine_when_started_then_its_captures_last_until_its_end) {
  int local = 0;
  int touched = 0;
  TaskScope scope(scheduler());
  scope.start([&local, step = 7, last = Touching(touched)]() -> Promise<void> {
    co_await yield();
    local += step;
    co_await yield();
    local += step;
  });
  scope.join();
  EXPECT_EQ(local, 14);
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-1
TEST_P(ScopeCoroutines, callback_when_its_promise_is_settled_elsewhere_then_join_waits_for_it) {
  auto awaited = later<void>();
  int touched = 0;
  TaskScope scope(scheduler());
  scope.start([promise = awaited.promise, last = Touching(touched)] { return promise; });
  scope.start([promise = awaited.promise, last = Touching(touched)]() -> Promise<void> {
    co_await promise;
  });
  std::thread settler([&] { awaited.resolve(); });
  scope.join();
  EXPECT_EQ(touched, 2);
  settler.join();
}

// Rule: SCO-2
TEST_P(ScopeCoroutines, coroutine_when_it_throws_then_the_scope_aborts_with_that) {
  int touched = 0;
  int count = 0;
  TaskScope scope(scheduler());
  scope.start([&] {
    scope.start([&] { return failing("in a coroutine", Touching(touched)); },
                {.priority = TaskPriority::user_blocking});
    return counting(count, 1'000'000, Touching(touched));
  });
  scope.start([last = Touching(touched)] {}, {.delay = 1h});
  EXPECT_EQ(what_is_thrown_by_join(scope), "in a coroutine");
  EXPECT_EQ(touched, 3);
  EXPECT_LT(count, 1'000'000);
}

// Rule: SCO-2
TEST_P(ScopeCoroutines, promise_when_it_was_rejected_at_once_then_the_scope_aborts_with_that) {
  TaskScope scope(scheduler());
  scope.start([] { return Promise<void>::rejected(Reason(std::runtime_error("at once"))); });
  EXPECT_EQ(what_is_thrown_by_join(scope), "at once");
}

// Rule: SCO-1
TEST_P(ScopeCoroutines, coroutine_when_it_never_waits_then_it_ends_with_its_task) {
  int touched = 0;
  TaskScope scope(scheduler());
  scope.start([last = Touching(touched)]() -> Promise<void> { co_return; });
  scope.join();
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-2
TEST_P(ScopeCoroutines, coroutine_when_the_scope_aborts_then_its_next_yield_throws_and_it_ends) {
  int touched = 0;
  test::Gate begun;
  TaskScope scope(scheduler());
  scope.start([&begun, last = Touching(touched)]() -> Promise<void> {
    begun.open();
    for (;;) co_await yield();
  });
  begun.wait();
  scope.abort();
  EXPECT_THROW(scope.join(), AbortError);
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-1
TEST_P(ScopeCoroutines, coroutine_when_it_awaits_a_join_then_it_goes_on_when_all_has_ended) {
  const auto parent = [this]() -> Promise<int> {
    std::vector<int> results(20);
    int touched = 0;
    TaskScope scope(scheduler());
    for (int& result : results) scope.start([&result, last = Touching(touched)] { result = 1; });
    co_await scope.join();
    int sum = touched;
    for (const int result : results) sum += result;
    co_return sum;
  };
  const auto promise = scheduler().post_task(parent);
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 40);
}

// Rule: SCO-1
TEST_P(ScopeCoroutines, scope_within_a_coroutine_of_a_scope_when_joined_then_both_have_ended) {
  const auto parent = [this]() -> Promise<int> {
    int sum = 0;
    TaskScope outer(scheduler());
    outer.start([&]() -> Promise<void> {
      int inner_sum = 0;
      TaskScope inner(scheduler(), {.signal = outer.signal()});
      inner.start([&] { inner_sum = 5; });
      co_await inner.join();
      sum += inner_sum;
    });
    co_await outer.join();
    co_return sum;
  };
  const auto promise = scheduler().post_task(parent);
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 5);
}

// Rule: SCO-4
TEST_P(ScopeCoroutines, join_when_the_awaiting_task_is_aborted_then_it_waits_all_the_same) {
  test::Gate begun;
  auto child_may_end = later<void>();
  std::atomic<bool> parent_went_on = false;
  AbortController of_parent;
  bool child_ended = false;
  const auto parent = [&]() -> Promise<void> {
    int local = 0;
    TaskScope scope(scheduler());
    scope.start([&]() -> Promise<void> {
      begun.open();
      co_await child_may_end.promise;
      ++local;
      child_ended = true;
    });
    co_await scope.join();
    parent_went_on = child_ended && local == 1;
  };
  const auto promise = scheduler().post_task(parent, {.signal = of_parent.signal()});
  begun.wait();
  of_parent.abort();
  for (int i = 0; i < 10; ++i) scheduler().post_task([] {}).get();
  EXPECT_FALSE(parent_went_on);
  child_may_end.resolve();
  EXPECT_TRUE(comes_true([&] { return parent_went_on.load(); }));
}

// Rule: SCO-2
TEST_P(ScopeCoroutines, awaited_join_when_a_task_throws_then_it_throws_that) {
  const auto parent = [this]() -> Promise<std::string> {
    TaskScope scope(scheduler());
    scope.start([] { throw std::runtime_error("for the parent"); });
    try {
      co_await scope.join();
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing";
  };
  const auto promise = scheduler().post_task(parent);
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), "for the parent");
}

// Rule: SCO-4
TEST_P(ScopeCoroutines, join_when_awaited_off_an_agent_then_not_allowed_and_the_scope_is_safe) {
  int touched = 0;
  const auto parent = [&]() -> Promise<void> {
    TaskScope scope(scheduler());
    scope.start([last = Touching(touched)] {}, {.delay = 1h});
    co_await scope.join();
  };
  EXPECT_THROW(parent().get(), NotAllowedError);
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-2
TEST_P(ScopeCoroutines, coroutine_when_it_hops_to_another_scheduler_then_the_join_waits_for_it) {
  int touched = 0;
  int local = 0;
  const Agent other;
  TaskScope scope(scheduler());
  scope.start([&, last = Touching(touched)]() -> Promise<void> {
    co_await resume_on(other.scheduler());
    ++local;
  });
  scope.join();
  EXPECT_EQ(local, 1);
  EXPECT_EQ(touched, 1);
}

}  // namespace
}  // namespace heist::support
