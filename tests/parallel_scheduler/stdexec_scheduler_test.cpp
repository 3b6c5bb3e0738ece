// The parallel_scheduler of stdexec in a program that links heist::parallel_scheduler.
#ifdef HEIST_TESTS_USE_STDEXEC
#include <gtest/gtest.h>

#include <atomic>
#include <heist/heist.hpp>
#include <heist/parallel_scheduler.hpp>
#include <stdexec/execution.hpp>
#include <thread>

namespace heist::execution {
namespace {

// Rule: SND-10
TEST(ParallelScheduler, schedule_when_it_completes_then_that_is_in_a_task_of_heist) {
  const auto scheduler = stdexec::get_parallel_scheduler();
  EXPECT_EQ(scheduler, stdexec::get_parallel_scheduler());
  const auto told = stdexec::sync_wait(stdexec::schedule(scheduler) | stdexec::then([] {
                                         return Scheduler::current().has_value();
                                       }));
  EXPECT_TRUE(std::get<0>(told.value()));
}

// Rule: SND-10
TEST(ParallelScheduler, bulk_when_it_runs_then_each_index_is_called_once_with_the_value) {
  std::atomic<long> sum{0};
  const auto answer = stdexec::sync_wait(
      stdexec::schedule(stdexec::get_parallel_scheduler()) | stdexec::then([] { return 2; }) |
      stdexec::bulk(stdexec::par, 10'000, [&](int index, int& value) { sum += index * value; }));
  EXPECT_EQ(sum, 99'990'000);
  EXPECT_EQ(std::get<0>(answer.value()), 2);
}

// Rule: SND-10
TEST(ParallelScheduler, bulk_unchunked_when_it_runs_then_each_index_is_called_once) {
  std::atomic<long> sum{0};
  stdexec::sync_wait(stdexec::schedule(stdexec::get_parallel_scheduler()) |
                     stdexec::bulk_unchunked(stdexec::par, 10'000, [&](int i) { sum += i; }));
  EXPECT_EQ(sum, 49'995'000);
}

// Rule: SND-10
TEST(ParallelScheduler, when_all_when_many_are_scheduled_then_each_completes) {
  std::atomic<int> calls{0};
  const auto step =
      stdexec::schedule(stdexec::get_parallel_scheduler()) | stdexec::then([&] { ++calls; });
  for (int i = 0; i < 200; ++i) stdexec::sync_wait(stdexec::when_all(step, step, step));
  EXPECT_EQ(calls, 600);
}

}  // namespace
}  // namespace heist::execution
#endif
