#include <gtest/gtest.h>

#include <heistd/level_stats.hpp>

namespace heistd {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST(DurationHistogram, quantile_when_empty_then_zero) {
  EXPECT_EQ(DurationHistogram().quantile(0.99), 0ns);
}

TEST(DurationHistogram, quantile_when_spread_then_within_a_step_above) {
  DurationHistogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.add(i * 1us);
  for (const double share : {0.01, 0.5, 0.9, 0.99}) {
    const auto exact = share * 1000us;
    EXPECT_GE(histogram.quantile(share), exact);
    EXPECT_LE(histogram.quantile(share), exact * 1.024) << share;
  }
  EXPECT_EQ(histogram.quantile(1.0), 1000us);
  EXPECT_EQ(histogram.count(), 1000U);
}

TEST(DurationHistogram, quantile_when_one_value_then_that_value) {
  DurationHistogram histogram;
  histogram.add(123456ns);
  EXPECT_EQ(histogram.quantile(0.5), 123456ns);
  EXPECT_EQ(histogram.max(), 123456ns);
}

TEST(DurationHistogram, add_when_out_of_range_then_counted_at_the_ends) {
  DurationHistogram histogram;
  histogram.add(0ns);
  histogram.add(3h);
  EXPECT_LE(histogram.quantile(0.5), 100ns);
  EXPECT_EQ(histogram.quantile(1.0), 3h);
}

TEST(DurationHistogram, add_when_the_sum_is_too_large_then_it_stays_at_the_largest) {
  DurationHistogram histogram;
  histogram.add(nanoseconds::max());
  histogram.add(1h);
  EXPECT_EQ(histogram.for_metrics().sum(), nanoseconds::max());
}

TEST(DurationHistogram, for_metrics_when_spread_then_each_is_in_a_bucket_of_its_length) {
  DurationHistogram histogram;
  for (const auto duration :
       {nanoseconds(50ns), nanoseconds(5ms), nanoseconds(5ms), nanoseconds(1h)}) {
    histogram.add(duration);
  }
  const auto metrics = histogram.for_metrics();
  EXPECT_EQ(metrics.count(), 4U);
  EXPECT_EQ(metrics.sum(), 1h + 10ms + 50ns);
  const auto& buckets = metrics.buckets();
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0], (heist::Histogram::Bucket{0ns, 100ns, 1}));
  EXPECT_LE(buckets[1].from, 5ms);
  EXPECT_GT(buckets[1].to, 5ms);
  EXPECT_EQ(buckets[1].count, 2U);
  EXPECT_EQ(buckets[2], (heist::Histogram::Bucket{1000s, 1h + 1ns, 1}));
  histogram.clear();
  EXPECT_EQ(histogram.for_metrics().count(), 0U);
}

}  // namespace
}  // namespace heistd
