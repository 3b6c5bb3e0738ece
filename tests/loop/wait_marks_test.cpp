// Rule: WAIT-1, WAIT-2. What the marks tell of waits, under an overload that lasts for long.
#include "heist/loop/starvation_guard.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto most = 16ms;

/// A task a millisecond gets its enqueue order: the one of that time. Since `oldest` none was
/// picked.
class WaitMarksFixture : public testing::Test {
 protected:
  void pick(std::chrono::milliseconds now, std::uint64_t oldest) {
    const auto next = static_cast<std::uint64_t>(now.count()) + 1;
    marks.note_time(now);
    if (marks.wants_mark(now, next)) marks.mark(now, next, oldest);
  }

  AgeMarks marks{most};
};

TEST_F(WaitMarksFixture, order_when_its_maximum_is_over_then_late_and_not_before) {
  for (auto now = 0ms; now < 5000ms; now += 1ms) {
    const auto oldest = static_cast<std::uint64_t>(now < most ? 0 : (now - most).count());
    pick(now, oldest);
    if (now < most) continue;
    EXPECT_TRUE(marks.is_late(oldest));
    EXPECT_FALSE(marks.is_late(oldest + 1));
    EXPECT_EQ(marks.end_of_wait(oldest), now);
  }
}

TEST_F(WaitMarksFixture, orders_when_nothing_is_picked_for_long_then_told_apart_by_their_waits) {
  constexpr auto overload = 16'000ms;
  for (auto now = 0ms; now <= overload; now += 1ms) pick(now, 0);
  for (auto posted = 0ms; posted < overload - most; posted += 1ms) {
    const auto order = static_cast<std::uint64_t>(posted.count());
    ASSERT_TRUE(marks.is_late(order));
    const auto end = marks.end_of_wait(order);
    EXPECT_GE(end, posted + most);
    EXPECT_LE(end - (posted + most), (overload - posted) / 4);
  }
}

TEST_F(WaitMarksFixture, order_when_picks_are_rare_then_never_late_too_early) {
  pick(0ms, 0);
  pick(10ms, 0);
  pick(25ms, 0);
  EXPECT_TRUE(marks.is_late(0));
  EXPECT_FALSE(marks.is_late(1)) << "it may be of any time after the first pick";
  pick(26ms, 0);
  EXPECT_TRUE(marks.is_late(10));
  EXPECT_FALSE(marks.is_late(11));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
