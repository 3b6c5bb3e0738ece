#include "../statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

using bench::median;
using bench::median_rank;
using bench::paired_ratio;
using bench::percentile;

TEST(Statistics, median_when_count_is_odd_then_the_middle_one) {
  EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
}

TEST(Statistics, median_when_count_is_even_then_between_the_middle_two) {
  EXPECT_EQ(median(std::vector<double>{9, 1, 5, 6}), 5.5);
}

TEST(Statistics, median_when_empty_then_no_number) { EXPECT_TRUE(std::isnan(median({}))); }

TEST(Statistics, percentile_takes_the_nearest_rank) {
  std::vector<double> values(100);
  for (int i = 0; i < 100; ++i) values[std::size_t(i)] = 100 - i;
  EXPECT_EQ(percentile(values, 0.5), 50);
  EXPECT_EQ(percentile(values, 0.99), 99);
  EXPECT_EQ(percentile(values, 1), 100);
  EXPECT_EQ(percentile({7}, 0.5), 7);
}

/// The classical table of such intervals: 7 values -> extremes; 9 -> second; 20 -> sixth smallest.
TEST(Statistics, median_rank_agrees_with_the_table) {
  EXPECT_EQ(median_rank(1).rank, 0U);
  EXPECT_NEAR(median_rank(5).coverage, 0.9375, 1e-9);
  EXPECT_EQ(median_rank(7).rank, 0U);
  EXPECT_NEAR(median_rank(7).coverage, 0.984375, 1e-9);
  EXPECT_EQ(median_rank(9).rank, 1U);
  EXPECT_NEAR(median_rank(9).coverage, 0.9609375, 1e-9);
  EXPECT_EQ(median_rank(20).rank, 5U);
  EXPECT_NEAR(median_rank(20).coverage, 0.9586, 1e-4);
}

TEST(Statistics, interval_when_sampled_often_then_covers_as_it_says) {
  std::mt19937 random(1);
  std::exponential_distribution<double> skewed(1);
  const std::vector<double> ones(9, 1.0);
  int covered = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<double> sample(9);
    std::ranges::generate(sample, [&] { return skewed(random); });
    const auto interval = paired_ratio(sample, ones);
    covered += interval.low <= std::log(2) && std::log(2) <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(covered / 4000.0, median_rank(9).coverage, 0.015);
}

TEST(Statistics, paired_ratio_pairs_by_round) {
  const auto ratio = paired_ratio(std::vector<double>{1, 20, 300}, std::vector<double>{2, 40, 100});
  EXPECT_EQ(ratio.median, 0.5);
  EXPECT_EQ(ratio.low, 0.5);
  EXPECT_EQ(ratio.high, 3);
}

}  // namespace
