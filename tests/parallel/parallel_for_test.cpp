// parallel_for: each index once, on whichever agents there are; errors and aborts end it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <heist/heist.hpp>
#include <heist/parallel.hpp>
#include <limits>
#include <list>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "parallel/in_task.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using Counts = std::vector<std::atomic<int>>;

void expect_each_once(const Counts& counts) {
  for (std::size_t at = 0; at < counts.size(); ++at) {
    ASSERT_EQ(counts[at].load(), 1) << "index " << at;
  }
}

class ParallelForOn : public testing::TestWithParam<unsigned> {
 protected:
  AgentCluster cluster{{.agents = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Agents, ParallelForOn, testing::Values(1U, 2U, 3U, 8U));

TEST_P(ParallelForOn, parallel_for_when_ranges_have_any_size_then_each_index_is_called_once) {
  for (const std::size_t size : {1U, 2U, 3U, 7U, 100U, 1'000U, 100'000U}) {
    Counts counts(size);
    in_task(cluster.scheduler(),
            [&] { parallel_for(std::size_t{0}, size, [&](std::size_t at) { ++counts[at]; }); });
    expect_each_once(counts);
  }
}

TEST_P(ParallelForOn, parallel_for_when_called_many_times_then_each_index_is_called_once) {
  in_task(cluster.scheduler(), [] {
    for (int round = 0; round < 2'000; ++round) {
      Counts counts(20);
      parallel_for(std::size_t{0}, counts.size(), [&](std::size_t at) { ++counts[at]; });
      expect_each_once(counts);
    }
  });
}

TEST_P(ParallelForOn, parallel_for_when_many_tasks_call_it_at_once_then_each_index_is_called_once) {
  constexpr std::size_t calls = 50;
  std::vector<Counts> counts;
  for (std::size_t call = 0; call < calls; ++call) counts.emplace_back(1'000);
  std::vector<Promise<void>> done;
  for (Counts& of_call : counts) {
    done.push_back(cluster.scheduler().post_task([&of_call] {
      parallel_for(std::size_t{0}, of_call.size(), [&](std::size_t at) { ++of_call[at]; });
    }));
  }
  for (auto& promise : done) promise.get();
  for (const Counts& of_call : counts) expect_each_once(of_call);
}

TEST_P(ParallelForOn, parallel_for_when_nested_then_each_pair_is_called_once) {
  constexpr std::size_t size = 60;
  Counts counts(size * size);
  in_task(cluster.scheduler(), [&] {
    parallel_for(std::size_t{0}, size, [&](std::size_t row) {
      parallel_for(std::size_t{0}, size,
                   [&](std::size_t column) { ++counts[row * size + column]; });
    });
  });
  expect_each_once(counts);
}

TEST_P(ParallelForOn, parallel_for_when_the_body_throws_then_the_error_is_passed_on) {
  in_task(cluster.scheduler(), [] {
    for (int round = 0; round < 100; ++round) {
      const auto throw_at_500 = [](int at) {
        if (at == 500) throw std::out_of_range("500");
      };
      EXPECT_THROW(parallel_for(0, 1'000, throw_at_500), std::out_of_range);
    }
  });
}

TEST_P(ParallelForOn, parallel_for_when_the_body_throws_then_an_endless_range_ends) {
  in_task(cluster.scheduler(), [] {
    std::atomic<int> calls{0};
    const auto throw_once = [&](std::uint64_t) {
      if (++calls == 10'000) throw std::runtime_error("enough");
    };
    EXPECT_THROW(
        parallel_for(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), throw_once),
        std::runtime_error);
  });
}

// Rule: ABT-6
TEST_P(ParallelForOn, parallel_for_when_the_task_is_aborted_then_it_ends_early_with_the_reason) {
  AbortController controller;
  std::atomic<int> calls{0};
  std::atomic<bool> has_thrown_the_reason{false};
  auto done = cluster.scheduler().post_task(
      [&] {
        try {
          parallel_for(std::uint64_t{0}, std::uint64_t{1} << 60U, [&](std::uint64_t) { ++calls; });
        } catch (const Aborted& error) {
          has_thrown_the_reason = *error.reason().value<std::string>() == "enough";
        }
      },
      {.signal = controller.signal()});
  wait_for([&] { return calls.load() >= 1'000; });
  controller.abort("enough");
  EXPECT_THROW(done.get(), Aborted);
  cluster.close(CloseMode::drain());
  EXPECT_TRUE(has_thrown_the_reason.load());
}

TEST_P(ParallelForOn, parallel_for_when_the_task_is_aborted_before_then_nothing_is_called) {
  AbortController controller;
  bool has_thrown = false;
  auto done = cluster.scheduler().post_task(
      [&] {
        controller.abort();
        try {
          parallel_for(0, 100, [](int) { ADD_FAILURE(); });
        } catch (const AbortError&) {
          has_thrown = true;
        }
      },
      {.signal = controller.signal()});
  EXPECT_THROW(done.get(), AbortError);
  cluster.close(CloseMode::drain());
  EXPECT_TRUE(has_thrown);
}

TEST_P(ParallelForOn, parallel_for_when_the_abort_comes_with_the_last_index_then_it_returns) {
  AbortController controller;
  bool has_returned = false;
  auto done = cluster.scheduler().post_task(
      [&] {
        parallel_for(0, 1, [&](int) { controller.abort(); });
        has_returned = true;
      },
      {.signal = controller.signal()});
  EXPECT_THROW(done.get(), AbortError);
  cluster.close(CloseMode::drain());
  EXPECT_TRUE(has_returned);
}

TEST_P(ParallelForOn, parallel_for_when_a_nested_call_is_aborted_then_the_outer_one_ends) {
  AbortController controller;
  std::atomic<int> calls{0};
  auto done = cluster.scheduler().post_task(
      [&] {
        parallel_for(0, 4, [&](int) {
          parallel_for(std::uint64_t{0}, std::uint64_t{1} << 60U, [&](std::uint64_t) {
            if (++calls == 1'000) controller.abort();
          });
        });
      },
      {.signal = controller.signal()});
  EXPECT_THROW(done.get(), AbortError);
  cluster.close(CloseMode::drain());
  EXPECT_GE(calls.load(), 1'000);
}

// Rule: LIF-1
TEST_P(ParallelForOn, parallel_for_when_the_cluster_drains_meanwhile_then_it_is_done) {
  Counts counts(200'000);
  std::atomic<bool> has_begun{false};
  auto done = cluster.scheduler().post_task([&] {
    parallel_for(std::size_t{0}, counts.size(), [&](std::size_t at) {
      has_begun = true;
      ++counts[at];
    });
  });
  wait_for([&] { return has_begun.load(); });
  cluster.close(CloseMode::drain());
  done.get();
  expect_each_once(counts);
}

TEST_P(ParallelForOn, parallel_for_when_the_cluster_aborts_meanwhile_then_the_caller_does_it) {
  Counts counts(200'000);
  std::atomic<bool> has_begun{false};
  bool is_done = false;
  cluster.scheduler().post([&] {
    parallel_for(std::size_t{0}, counts.size(), [&](std::size_t at) {
      has_begun = true;
      ++counts[at];
    });
    is_done = true;
  });
  wait_for([&] { return has_begun.load(); });
  cluster.close(CloseMode::abort());
  EXPECT_TRUE(is_done);
  expect_each_once(counts);
}

Forkable<std::size_t> count_in_leaves(std::size_t depth) {
  if (depth == 0) {
    std::atomic<std::size_t> calls{0};
    parallel_for(0, 100, [&](int) { ++calls; });
    co_return calls.load();
  }
  auto left = co_await fork(count_in_leaves(depth - 1));
  const std::size_t right = co_await count_in_leaves(depth - 1);
  co_await join();
  co_return left.value() + right;
}

TEST_P(ParallelForOn, parallel_for_when_forked_calls_call_it_then_all_is_done) {
  auto calls = cluster.scheduler().post_task([] { return count_in_leaves(7); });
  EXPECT_EQ(calls.get(), 12'800U);
}

TEST(ParallelFor, parallel_for_when_the_range_is_empty_then_nothing_is_called) {
  const auto fail = [](auto) { ADD_FAILURE(); };
  parallel_for(0, 0, fail);
  parallel_for(5, 3, fail);
  const std::vector<int> none;
  parallel_for(none.begin(), none.end(), fail);
}

TEST(ParallelFor, parallel_for_when_the_range_spans_the_type_then_indexes_are_right) {
  std::atomic<int> sum{0};
  parallel_for(std::int8_t{-128}, std::int8_t{127}, [&](std::int8_t at) { sum += at; });
  EXPECT_EQ(sum.load(), -255);
}

TEST(ParallelFor, parallel_for_when_called_with_iterators_then_the_body_gets_iterators) {
  std::vector<int> numbers(1'000, 1);
  parallel_for(numbers.begin(), numbers.end(), [](auto at) { *at *= 3; });
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 3'000);
}

TEST(ParallelFor, parallel_for_when_called_off_any_agent_then_the_thread_does_it_alone) {
  const auto here = std::this_thread::get_id();
  int calls = 0;
  parallel_for(0, 100'000, [&](int) {
    ASSERT_EQ(std::this_thread::get_id(), here);
    ++calls;
  });
  EXPECT_EQ(calls, 100'000);
}

TEST(ParallelFor, parallel_for_when_called_on_a_loop_of_its_own_then_the_thread_does_it_alone) {
  EventLoop loop({.clock = LoopClock::virtual_time});
  int calls = 0;
  loop.scheduler().post([&] { parallel_for(0, 1'000, [&](int) { ++calls; }); });
  loop.run_until_idle();
  EXPECT_EQ(calls, 1'000);
}

// Rule: LIF-6
TEST(ParallelFor, parallel_loops_when_there_is_nothing_to_call_then_refused) {
  const std::function<void(int)> nothing;
  const std::function<int(int, int)> no_sum;
  EXPECT_THROW(parallel_for(0, 10, nothing), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(parallel_reduce(0, 10, 0, no_sum, std::plus<>())),
               std::invalid_argument);
  EXPECT_THROW(static_cast<void>(parallel_reduce(0, 10, 0, std::plus<>(), no_sum)),
               std::invalid_argument);
  std::vector<int> numbers{2, 1};
  const std::function<bool(int, int)> no_order;
  EXPECT_THROW(parallel_sort(numbers.begin(), numbers.end(), no_order), std::invalid_argument);
}

/// A loop whose body does nothing: the compiler leaves nothing of it.
class Nothing final : public ParallelLoop {
  void run_indexes(std::size_t /*begin*/, std::size_t /*end*/, void* /*result*/) override {}
};

TEST_P(ParallelForOn, parallel_for_when_all_indexes_there_are_take_no_time_then_it_ends) {
  Nothing nothing;
  in_task(cluster.scheduler(), [&] { nothing.run_all(std::numeric_limits<std::size_t>::max()); });
  nothing.run_all(std::numeric_limits<std::size_t>::max());
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
