// Rule: DLY-1. The tick that an agent goes by is that of the clock.
#include "heist/task/tick_reader.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;

class TickReaderOf : public testing::TestWithParam<std::chrono::nanoseconds> {};

TEST_P(TickReaderOf, now_when_the_clock_is_real_then_no_tick_is_seen_early_or_late) {
  const LoopTime time(LoopClock::steady, GetParam());
  TickReader reader(time);
  const auto end = time.now() + 20ms;
  while (time.now() < end) {
    const Tick before = time.tick_now();
    const Tick seen = reader.now();
    ASSERT_GE(seen, before);
    ASSERT_LE(seen, time.tick_now());
  }
}

INSTANTIATE_TEST_SUITE_P(Ticks, TickReaderOf, testing::Values(1us, 50us, 1ms, 5ms));

TEST(TickReader, now_when_the_clock_is_virtual_then_follows_it_at_once) {
  LoopTime time(LoopClock::virtual_time, 1ms);
  TickReader reader(time);
  for (const auto now : {0ms, 1ms, 7ms, 8ms}) {
    time.set_virtual(now);
    EXPECT_EQ(reader.now(), static_cast<Tick>(now.count()));
  }
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
