#include <gtest/gtest.h>

#include <cstdint>
#include <heist/detail/log_linear.hpp>
#include <heist/histogram.hpp>
#include <limits>
#include <stdexcept>

namespace heist {
namespace {

using namespace std::chrono_literals;
using namespace detail;

// Rule: MET-4
TEST(LogLinear, bucket_of_when_value_is_a_start_then_that_bucket_and_one_less_the_one_before) {
  for (std::size_t bucket = 1; bucket < log_linear::bucket_count; ++bucket) {
    const std::uint64_t start = log_linear::start_of(bucket);
    EXPECT_EQ(log_linear::bucket_of(start), bucket);
    EXPECT_EQ(log_linear::bucket_of(start - 1), bucket - 1);
  }
}

// Rule: MET-4
TEST(LogLinear, start_of_when_next_bucket_then_at_most_an_eighth_later) {
  for (std::size_t bucket = 1; bucket < log_linear::bucket_count; ++bucket) {
    const std::uint64_t start = log_linear::start_of(bucket);
    EXPECT_LE(8 * (log_linear::start_of(bucket + 1) - start), start);
  }
}

TEST(LogLinear, bucket_of_when_beyond_all_then_the_last) {
  EXPECT_EQ(log_linear::bucket_of(std::numeric_limits<std::uint64_t>::max()),
            log_linear::bucket_count - 1);
}

TEST(Histogram, quantile_when_nothing_was_measured_then_zero) {
  EXPECT_EQ(Histogram().quantile(0.99), 0ns);
  EXPECT_EQ(Histogram().count(), 0U);
}

// Rule: MET-4
TEST(Histogram, quantile_when_share_is_reached_then_the_end_of_its_bucket) {
  const Histogram histogram({{0ns, 10ns, 50}, {10ns, 20ns, 49}, {40ns, 50ns, 1}}, 700ns);
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.sum(), 700ns);
  EXPECT_EQ(histogram.quantile(0), 10ns);
  EXPECT_EQ(histogram.quantile(0.5), 10ns);
  EXPECT_EQ(histogram.quantile(0.51), 20ns);
  EXPECT_EQ(histogram.quantile(0.99), 20ns);
  EXPECT_EQ(histogram.quantile(1), 50ns);
}

TEST(Histogram, quantile_when_no_share_then_invalid_argument) {
  EXPECT_THROW(static_cast<void>(Histogram().quantile(-0.1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Histogram().quantile(1.1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Histogram().quantile(std::numeric_limits<double>::quiet_NaN())),
               std::invalid_argument);
}

}  // namespace
}  // namespace heist
