// What stdexec has besides: its own coroutines and scopes take the schedulers as they are.
#ifdef HEIST_TESTS_USE_STDEXEC
#include <gtest/gtest.h>

#include <atomic>
#include <exec/async_scope.hpp>
#include <exec/task.hpp>
#include <heist/heist.hpp>
#include <utility>

#include "execution/library_under_test.hpp"

namespace heist::execution {
namespace {

class WithStdexec : public testing::TestWithParam<unsigned> {
 protected:
  AgentCluster cluster{{.agents = GetParam()}};
  TaskScheduler sched = as_scheduler(cluster.scheduler());
};
INSTANTIATE_TEST_SUITE_P(Agents, WithStdexec, testing::Values(1U, 2U, 8U));

stdexec::task<int> plus_one(Promise<int> promise) {
  co_return 1 + co_await as_sender(std::move(promise));
}

// Rule: SND-1
TEST_P(WithStdexec, task_when_it_awaits_a_promise_then_it_goes_on_with_the_value) {
  for (int i = 0; i < 100; ++i) {
    auto promise = cluster.scheduler().post_task([] { return 41; });
    const auto answer = stdexec::sync_wait(stdexec::starts_on(sched, plus_one(promise)));
    ASSERT_EQ(std::get<0>(answer.value()), 42);
  }
}

// Rule: SND-1
TEST_P(WithStdexec, async_scope_when_it_spawns_then_all_have_ended_when_it_is_empty) {
  std::atomic<int> calls{0};
  exec::async_scope scope;
  for (int i = 0; i < 1'000; ++i)
    scope.spawn(stdexec::schedule(sched) | stdexec::then([&] { ++calls; }));
  stdexec::sync_wait(scope.on_empty());
  EXPECT_EQ(calls, 1'000);
}

// Rule: SND-1
TEST_P(WithStdexec, counting_scope_when_it_is_joined_then_all_have_ended) {
  std::atomic<int> calls{0};
  stdexec::counting_scope scope;
  for (int i = 0; i < 1'000; ++i) {
    stdexec::spawn(stdexec::schedule(sched) | stdexec::then([&]() noexcept { ++calls; }),
                   scope.get_token());
  }
  stdexec::sync_wait(scope.join());
  EXPECT_EQ(calls, 1'000);
}

// Rule: SND-1
TEST_P(WithStdexec, bulk_when_it_is_parallel_then_each_index_is_called_once) {
  std::atomic<int> sum{0};
  stdexec::sync_wait(stdexec::schedule(sched) |
                     stdexec::bulk(stdexec::par, 100, [&](int index) { sum += index; }));
  EXPECT_EQ(sum, 4'950);
}

// Rule: SND-7
TEST_P(WithStdexec, to_promise_when_a_sender_has_to_come_back_then_it_does) {
  EventLoop other;
  const auto there = as_scheduler(other.scheduler());
  const auto promise = to_promise(cluster.scheduler(), stdexec::affine(stdexec::schedule(there)));
  while (!promise.settled()) other.run_until_idle();
  EXPECT_NO_THROW(promise.get());
}

// Rule: SND-7
TEST_P(WithStdexec, to_promise_when_a_task_runs_then_the_promise_has_its_value) {
  auto promise = cluster.scheduler().post_task([] { return 41; });
  EXPECT_EQ(to_promise(cluster.scheduler(), plus_one(promise)).get(), 42);
}

}  // namespace
}  // namespace heist::execution
#endif
