#include <gtest/gtest.h>

#include <heistd/level_stats.hpp>

namespace heistd {
namespace {

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace heistd
