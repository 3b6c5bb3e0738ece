// parallel_reduce: as a loop would give, also for what does not commute.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <heist/heist.hpp>
#include <heist/parallel.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "parallel/in_task.hpp"

namespace heist {
namespace {

/// So that each index is a part of its own.
void take_long() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

class ParallelReduceOn : public testing::TestWithParam<unsigned> {
 protected:
  AgentCluster cluster{{.agents = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Agents, ParallelReduceOn, testing::Values(1U, 2U, 8U));

TEST_P(ParallelReduceOn, parallel_reduce_when_summing_then_the_sum_is_right) {
  for (const std::uint64_t size : {1U, 2U, 3U, 1'000U, 3'000'000U}) {
    const auto sum = in_task(cluster.scheduler(), [&] {
      return parallel_reduce(
          std::uint64_t{0}, size, std::uint64_t{0},
          [](std::uint64_t so_far, std::uint64_t at) { return so_far + at; }, std::plus<>());
    });
    EXPECT_EQ(sum, size * (size - 1) / 2);
  }
}

TEST_P(ParallelReduceOn,
       parallel_reduce_when_it_does_not_commute_then_the_order_is_that_of_a_loop) {
  std::string expected;
  for (int at = 0; at < 20'000; ++at) expected += std::to_string(at) + ' ';
  for (int round = 0; round < 20; ++round) {
    const auto text = in_task(cluster.scheduler(), [] {
      return parallel_reduce(
          0, 20'000, std::string(),
          [](std::string so_far, int at) { return std::move(so_far) + std::to_string(at) + ' '; },
          [](std::string left, const std::string& right) { return std::move(left) + right; });
    });
    ASSERT_EQ(text, expected);
  }
}

TEST_P(ParallelReduceOn, parallel_reduce_when_parts_are_single_indexes_then_the_order_holds) {
  const auto numbers = in_task(cluster.scheduler(), [] {
    return parallel_reduce(
        0, 300, std::vector<int>(),
        [](std::vector<int> so_far, int at) {
          so_far.push_back(at);
          take_long();
          return so_far;
        },
        [](std::vector<int> left, const std::vector<int>& right) {
          left.insert(left.end(), right.begin(), right.end());
          return left;
        });
  });
  std::vector<int> expected(300);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(numbers, expected);
}

TEST_P(ParallelReduceOn, parallel_reduce_when_the_body_throws_then_the_error_is_passed_on) {
  const auto throw_at_700 = [](int so_far, int at) {
    if (at == 700) throw std::out_of_range("700");
    return so_far + at;
  };
  const auto reduce = [&] { return parallel_reduce(0, 1'000, 0, throw_at_700, std::plus<>()); };
  EXPECT_THROW(in_task(cluster.scheduler(), reduce), std::out_of_range);
}

TEST_P(ParallelReduceOn,
       parallel_reduce_when_copying_the_identity_throws_then_the_error_is_passed_on) {
  struct Fragile {
    Fragile() = default;
    Fragile(const Fragile& /*other*/) { throw std::runtime_error("copied"); }
    Fragile(Fragile&&) = default;
    Fragile& operator=(const Fragile&) = default;
    Fragile& operator=(Fragile&&) = default;
    ~Fragile() = default;
  };
  const auto reduce = [] {
    static_cast<void>(parallel_reduce(
        0, 100, Fragile(), [](Fragile so_far, int) { return so_far; },
        [](Fragile left, const Fragile&) { return left; }));
  };
  EXPECT_THROW(in_task(cluster.scheduler(), reduce), std::runtime_error);
}

TEST_P(ParallelReduceOn, parallel_reduce_when_the_task_is_aborted_then_the_reason_is_thrown) {
  AbortController controller;
  const auto abort_in_the_middle = [&](std::uint64_t so_far, std::uint64_t at) {
    if (at == 10'000) controller.abort();
    return so_far + at;
  };
  bool has_thrown = false;
  auto done = cluster.scheduler().post_task(
      [&] {
        try {
          static_cast<void>(parallel_reduce(std::uint64_t{0}, std::uint64_t{1} << 60U,
                                            std::uint64_t{0}, abort_in_the_middle, std::plus<>()));
        } catch (const AbortError&) {
          has_thrown = true;
        }
      },
      {.signal = controller.signal()});
  EXPECT_THROW(done.get(), AbortError);
  cluster.close(CloseMode::drain());
  EXPECT_TRUE(has_thrown);
}

TEST(ParallelReduce, parallel_reduce_when_the_range_is_empty_then_it_gives_the_identity) {
  EXPECT_EQ(parallel_reduce(3, 3, 17, std::plus<>(), std::plus<>()), 17);
}

TEST(ParallelReduce, parallel_reduce_when_given_iterators_then_the_body_gets_iterators) {
  const std::vector<int> numbers{1, 2, 3};
  const auto sum = parallel_reduce(
      numbers.begin(), numbers.end(), 0, [](int so_far, auto at) { return so_far + *at; },
      std::plus<>());
  EXPECT_EQ(sum, 6);
}

}  // namespace
}  // namespace heist
