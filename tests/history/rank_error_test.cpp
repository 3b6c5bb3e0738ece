// RankError on histories made by hand, and LogHistogram, in which it counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../../stress/support/history/log_histogram.hpp"
#include "told_history.hpp"

namespace heist::support {
namespace {

using stress::LogHistogram;
using stress::Moment;

/// Tasks of one level that are posted in the order of their numbers, and start in the order given.
std::vector<ToldTask> posted_then_started(const std::vector<std::uint32_t>& order) {
  std::vector<ToldTask> tasks;
  Moment now = 1000;
  for (const std::uint32_t number : order) {
    const Moment post = 10 * Moment{number};
    tasks.push_back(
        {.record = {post, post + 5, now, now + 1, {number, 0, 3}}, .agent = 0, .transfers = {}});
    now += 10;
  }
  return tasks;
}

// Rule: CLU-2
TEST(RankError, starts_when_in_order_of_posts_then_zero) {
  const auto ranks = judge(posted_then_started({1, 2, 3, 4})).ranks;
  EXPECT_EQ(ranks.level(3).rank.total(), 4U);
  EXPECT_EQ(ranks.max_rank(), 0U);
}

// Rule: CLU-2
TEST(RankError, start_when_older_ones_wait_then_their_number) {
  // The rank errors are 3, 1, 0 and 0.
  const auto ranks = judge(posted_then_started({4, 2, 1, 3})).ranks;
  EXPECT_EQ(ranks.max_rank(), 3U);
  EXPECT_EQ(ranks.level(3).rank.quantile(0.5), 0U);
  EXPECT_EQ(ranks.level(3).rank.quantile(0.75), 1U);
}

// Rule: CLU-2
TEST(RankError, start_when_the_older_post_had_not_returned_then_not_older) {
  auto tasks = posted_then_started({2, 1});
  EXPECT_EQ(judge(tasks).ranks.max_rank(), 1U);
  tasks[1].record.post_end = tasks[0].record.post_begin;
  EXPECT_EQ(judge(tasks).ranks.max_rank(), 0U);
}

// Rule: CLU-2
TEST(RankError, start_when_older_ones_are_of_another_level_then_zero) {
  auto tasks = posted_then_started({2, 1});
  tasks[0].record.id.level = 4;
  EXPECT_EQ(judge(tasks).ranks.max_rank(), 0U);
}

// Rule: CLU-2
TEST(RankError, delay_when_started_then_time_since_the_post_returned) {
  auto tasks = posted_then_started({1});
  EXPECT_EQ(judge(tasks).ranks.level(3).delay.max(), 1001U - 15U);
  tasks[0].record.post_end = 2000;
  const auto ranks = judge(tasks).ranks;
  EXPECT_EQ(ranks.level(3).delay.total(), 1U);
  EXPECT_EQ(ranks.level(3).delay.max(), 0U);
}

std::string tsv_of(const stress::RankError& ranks) {
  std::string text(10'000, '\0');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(fmemopen(text.data(), text.size(), "w"),
                                                            std::fclose);
  ranks.write_tsv(out.get(), "4", "events");
  std::fflush(out.get());
  return text.c_str();
}

TEST(RankError, tsv_when_written_then_what_each_share_of_the_tasks_exceeds) {
  const std::string text = tsv_of(judge(posted_then_started({2, 1})).ranks);
  EXPECT_THAT(text, testing::StartsWith("4\toutside\t3\trank_error\ttasks\t0.5\t0\n"
                                        "4\toutside\t3\trank_error\ttasks\t0.2\t1\n"));
  EXPECT_THAT(text, testing::HasSubstr("4\toutside\t3\tdelay\tevents\t0\t"));
}

// Rule: CLU-2
TEST(RankError, start_when_posted_inside_then_counted_apart) {
  auto tasks = posted_then_started({2, 1});
  tasks[0].record.id.poster = 9;
  const auto ranks = judge(tasks, 1, {}, 9).ranks;
  using Origin = stress::RankError::Origin;
  EXPECT_EQ(ranks.max_rank(Origin::inside), 1U);
  EXPECT_EQ(ranks.max_rank(Origin::outside), 0U);
  EXPECT_EQ(ranks.level(3, Origin::inside).rank.total(), 1U);
}

/// The largest value that LogHistogram counts in the same class as this one.
std::uint64_t end_of_class(std::uint64_t value) {
  LogHistogram histogram;
  histogram.add(value);
  histogram.add(~std::uint64_t{0});
  return histogram.quantile(0.5);
}

TEST(LogHistogram, value_when_added_then_its_class_ends_at_most_a_part_in_32_above) {
  for (std::uint64_t value = 0; value < 100'000; value += 1 + value / 50) {
    const std::uint64_t end = end_of_class(value);
    EXPECT_GE(end, value);
    EXPECT_LE(end, value + value / 32);
    EXPECT_EQ(end_of_class(end), end) << "it belongs to its class";
    EXPECT_TRUE(value >= 64 || end == value) << value;
  }
}

TEST(LogHistogram, quantile_when_many_values_then_the_share_is_not_above_it) {
  LogHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  for (std::uint64_t value = 1; value <= 60; ++value) histogram.add(value);
  EXPECT_EQ(histogram.quantile(0.5), 30U);
  EXPECT_EQ(histogram.quantile(0.99), 60U);
  histogram.add(1'000'000);
  EXPECT_EQ(histogram.max(), 1'000'000U);
  EXPECT_EQ(histogram.quantile(1), 1'000'000U);
}

}  // namespace
}  // namespace heist::support
