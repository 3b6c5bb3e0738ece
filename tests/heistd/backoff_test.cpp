// How long jobs wait before they are tried again.
#include <gtest/gtest.h>

#include <algorithm>
#include <heistd/backoff.hpp>
#include <set>

namespace heistd {
namespace {

using std::chrono::milliseconds;

TEST(BackoffTest, pause_when_attempts_grow_then_it_doubles_up_to_a_minute_and_chance_adds_less) {
  Backoff backoff;
  for (Attempt attempts = 1; attempts <= 100; ++attempts) {
    const auto least =
        std::min(milliseconds(1000) * (1U << std::min(attempts - 1, 10U)), milliseconds(60'000));
    for (int time = 0; time < 100; ++time) {
      const auto pause = backoff(attempts);
      EXPECT_GE(pause, least);
      EXPECT_LT(pause, 2 * least);
    }
  }
}

TEST(BackoffTest, pause_when_other_ones_are_asked_for_then_it_grows_from_the_first_to_the_last) {
  Backoff backoff(milliseconds(100), milliseconds(5000));
  EXPECT_LT(backoff(1), milliseconds(200));
  EXPECT_GE(backoff(3), milliseconds(400));
  EXPECT_LT(backoff(1000), milliseconds(10'000));
}

TEST(BackoffTest, pause_when_many_fail_together_then_they_do_not_come_again_together) {
  Backoff backoff;
  std::set<milliseconds> pauses;
  for (int job = 0; job < 100; ++job) pauses.insert(backoff(1));
  EXPECT_GT(pauses.size(), 50U);
}

}  // namespace
}  // namespace heistd
