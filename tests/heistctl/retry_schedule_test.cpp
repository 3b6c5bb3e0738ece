#include <gtest/gtest.h>

#include <heistctl/retry_schedule.hpp>

namespace heistctl {
namespace {

using namespace std::chrono_literals;

TEST(RetrySchedule, next_when_the_server_says_nothing_then_pauses_double_up_to_two_seconds) {
  const RetrySchedule::Clock::time_point now{};
  RetrySchedule schedule(now, 1min);
  for (const auto pause : {100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) {
    EXPECT_EQ(schedule.next(now, std::nullopt), pause);
  }
}

TEST(RetrySchedule, next_when_the_server_says_how_long_then_that_is_the_pause) {
  const RetrySchedule::Clock::time_point now{};
  RetrySchedule schedule(now, 1min);
  EXPECT_EQ(schedule.next(now, 5s), 5s);
  EXPECT_EQ(schedule.next(now, std::nullopt), 100ms);
}

TEST(RetrySchedule, next_when_the_pause_would_end_too_late_then_there_is_none) {
  const RetrySchedule::Clock::time_point now{};
  RetrySchedule schedule(now, 10s);
  EXPECT_EQ(schedule.next(now + 6s, 4s), 4s);
  EXPECT_EQ(schedule.next(now + 7s, 4s), std::nullopt);
  EXPECT_EQ(schedule.next(now, std::chrono::seconds::max()), std::nullopt);
  EXPECT_EQ(RetrySchedule(now, 0s).next(now, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace heistctl
