// parallel_sort: what std::sort gives, for all shapes of input.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <heist/heist.hpp>
#include <heist/parallel.hpp>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel/in_task.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

std::vector<std::vector<int>> shapes(std::size_t size) {
  std::vector<int> rising(size);
  std::iota(rising.begin(), rising.end(), 0);
  std::vector<int> falling(rising.rbegin(), rising.rend());
  std::vector<int> equal(size, 7);
  std::vector<int> random(size);
  std::vector<int> few(size);
  std::vector<int> organ_pipe(size);
  std::mt19937 numbers(1);
  for (std::size_t at = 0; at < size; ++at) {
    random[at] = static_cast<int>(numbers());
    few[at] = static_cast<int>(numbers() % 3);
    organ_pipe[at] = static_cast<int>(std::min(at, size - at));
  }
  return {rising, falling, equal, random, few, organ_pipe};
}

class ParallelSortOn : public testing::TestWithParam<unsigned> {
 protected:
  AgentCluster cluster{{.agents = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Agents, ParallelSortOn, testing::Values(1U, 2U, 8U));

TEST_P(ParallelSortOn, parallel_sort_when_the_input_has_any_shape_then_it_is_sorted) {
  for (const std::size_t size : {0U, 1U, 2U, 17U, 2'048U, 2'049U, 5'000U, 200'000U}) {
    for (auto& numbers : shapes(size)) {
      auto expected = numbers;
      std::sort(expected.begin(), expected.end());
      in_task(cluster.scheduler(), [&] { parallel_sort(numbers.begin(), numbers.end()); });
      ASSERT_EQ(numbers, expected);
    }
  }
}

TEST_P(ParallelSortOn, parallel_sort_when_given_an_order_then_it_is_used) {
  auto numbers = shapes(50'000)[3];
  in_task(cluster.scheduler(),
          [&] { parallel_sort(numbers.begin(), numbers.end(), std::greater<>()); });
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end(), std::greater<>()));
}

TEST_P(ParallelSortOn, parallel_sort_when_elements_only_move_then_they_are_sorted) {
  std::vector<std::unique_ptr<int>> pointers;
  const auto numbers = shapes(20'000)[3];
  for (const int number : numbers) pointers.push_back(std::make_unique<int>(number));
  const auto is_less = [](const auto& a, const auto& b) { return *a < *b; };
  in_task(cluster.scheduler(), [&] { parallel_sort(pointers.begin(), pointers.end(), is_less); });
  EXPECT_TRUE(std::is_sorted(pointers.begin(), pointers.end(), is_less));
}

TEST_P(ParallelSortOn, parallel_sort_when_a_comparison_throws_then_the_error_is_passed_on) {
  auto texts = std::vector<std::string>();
  const auto numbers = shapes(20'000)[3];
  for (const int number : numbers) texts.push_back(std::to_string(number));
  std::atomic<int> comparisons{0};
  const auto throw_late = [&](const std::string& a, const std::string& b) {
    if (++comparisons == 100'000) throw std::runtime_error("enough");
    return a < b;
  };
  const auto sort = [&] { parallel_sort(texts.begin(), texts.end(), throw_late); };
  EXPECT_THROW(in_task(cluster.scheduler(), sort), std::runtime_error);
}

TEST_P(ParallelSortOn, parallel_sort_when_the_task_is_aborted_then_the_reason_is_thrown) {
  AbortController controller;
  auto numbers = shapes(300'000)[3];
  auto expected = numbers;
  std::atomic<int> comparisons{0};
  bool has_thrown = false;
  auto done = cluster.scheduler().post_task(
      [&] {
        try {
          parallel_sort(numbers.begin(), numbers.end(), [&](int a, int b) {
            if (++comparisons == 100'000) controller.abort();
            return a < b;
          });
        } catch (const AbortError&) {
          has_thrown = true;
        }
      },
      {.signal = controller.signal()});
  EXPECT_THROW(done.get(), AbortError);
  cluster.close(CloseMode::drain());
  EXPECT_TRUE(has_thrown);
  std::sort(numbers.begin(), numbers.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(numbers, expected);
}

/// An adversary: answers such that pivots are as bad as can be (McIlroy's "A killer adversary for
/// quicksort").
TEST(ParallelSort, parallel_sort_when_pivots_are_bad_then_comparisons_stay_few) {
  constexpr std::size_t size = 20'000;
  std::vector<std::size_t> values(size, size);
  std::size_t next = 0;
  std::size_t candidate = 0;
  std::size_t comparisons = 0;
  const auto is_less = [&](std::size_t a, std::size_t b) {
    ++comparisons;
    if (values[a] == size && values[b] == size) values[a == candidate ? a : b] = next++;
    if (values[a] == size) candidate = a;
    if (values[b] == size) candidate = b;
    return values[a] < values[b];
  };
  std::vector<std::size_t> indexes(size);
  std::iota(indexes.begin(), indexes.end(), std::size_t{0});
  parallel_sort(indexes.begin(), indexes.end(), is_less);
  EXPECT_LT(comparisons, 100 * size);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
