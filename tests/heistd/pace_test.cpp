// How long a body may take on its way.
#include <gtest/gtest.h>

#include <heistd/pace.hpp>

namespace heistd {
namespace {

using namespace std::chrono_literals;

struct PaceTest : testing::Test {
  static Limits example() {
    Limits limits;
    limits.idle_timeout = 30s;
    limits.min_rate = 1000;
    return limits;
  }
  const Limits limits = example();
  const Clock::time_point start{100s};
};

TEST_F(PaceTest, deadline_when_bytes_come_fast_then_the_idle_timeout_from_now) {
  const Pace pace(limits, start);
  EXPECT_EQ(pace.deadline(start, 0), start + 30s);
  EXPECT_EQ(pace.deadline(start + 5s, 5000), start + 35s);
  EXPECT_EQ(pace.deadline(start + 5s, 1'000'000), start + 35s);
}

TEST_F(PaceTest, deadline_when_bytes_drip_then_the_idle_timeout_behind_the_minimum_rate) {
  const Pace pace(limits, start);
  EXPECT_EQ(pace.deadline(start + 29s, 500), start + 30'500ms);
}

TEST_F(PaceTest, deadline_when_the_server_has_kept_the_body_waiting_then_that_does_not_count) {
  Pace pace(limits, start);
  pace.excuse(60s);
  EXPECT_EQ(pace.deadline(start + 89s, 500), start + 90'500ms);
}

TEST_F(PaceTest, deadline_when_there_is_a_last_one_then_never_later) {
  const Pace pace(limits, start, start + 60s);
  EXPECT_EQ(pace.deadline(start + 40s, 1'000'000), start + 60s);
}

TEST_F(PaceTest, deadline_when_all_numbers_are_at_their_limits_then_no_overflow) {
  Limits slowest;
  slowest.min_rate = 1;
  slowest.idle_timeout = 24h;
  const Pace pace(slowest, Clock::now());
  const auto now = Clock::now();
  EXPECT_EQ(pace.deadline(now, std::uint64_t{1} << 40U), now + 24h);
}

}  // namespace
}  // namespace heistd
