// Timers expire at their ticks, in their order. Rules: DLY-1, DLY-2, DLY-3.
#include <algorithm>
#include <random>
#include <ranges>
#include <vector>

#include "loop/timer_wheel_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using test::half_of_all_ticks;
using test::Ids;
using test::powers_of_64;
using test::TestTimer;

class TimerWheelDly1 : public test::TimerWheelFixture {};
class TimerWheelDly2 : public test::TimerWheelFixture {};
class TimerWheelDly3 : public test::TimerWheelFixture {};

// Rule: DLY-1 (never early, not late; no wake-ups for far timers)

TEST_F(TimerWheelDly1, expire_when_one_tick_early_then_nothing_fires) {
  for (const Tick power : powers_of_64()) {
    for (const Tick expiry : {power - 1, power, power + 1, 2 * power - 1, 2 * power + 1}) {
      if (expiry <= wheel.now() + 1) continue;
      SCOPED_TRACE(expiry);
      const TestTimer& timer = arm(expiry);
      EXPECT_EQ(wheel.next_expiry(), expiry);
      EXPECT_EQ(expire(expiry - 1), Ids{});
      EXPECT_EQ(wheel.next_expiry(), expiry);
      EXPECT_EQ(expire(expiry), Ids{timer.id});
    }
  }
}

TEST_F(TimerWheelDly1, expire_when_started_beside_a_power_of_64_then_neither_early_nor_late) {
  for (const Tick power : powers_of_64()) {
    for (const Tick start : {power - 1, power, power + 1}) {
      for (const Tick delay : {Tick{1}, Tick{2}, Tick{63}, Tick{64}, Tick{65}, Tick{4096}}) {
        SCOPED_TRACE(testing::Message() << start << " + " << delay);
        TimerWheel fresh(start);
        TestTimer timer(0);
        fresh.arm(timer, start + delay);
        EXPECT_EQ(fresh.next_expiry(), start + delay);
        EXPECT_EQ(fresh.expire(start + delay - 1, [](LoopNode&) noexcept {}), 0U);
        EXPECT_TRUE(fresh.check_invariants());
        EXPECT_EQ(fresh.expire(start + delay, [](LoopNode&) noexcept {}), 1U);
      }
    }
  }
}

TEST_F(TimerWheelDly1, expire_when_all_levels_armed_then_each_fires_at_its_tick) {
  std::vector<Tick> expiries;
  for (const Tick power : powers_of_64()) {
    for (Tick digit = 1; digit <= 15; ++digit) expiries.push_back(digit * power + power / 3);
  }
  for (const Tick expiry : expiries) arm(expiry);
  for (std::size_t i = 0; i < expiries.size(); ++i) {
    ASSERT_EQ(wheel.next_expiry(), expiries[i]);
    ASSERT_EQ(expire(expiries[i] - 1), Ids{});
    ASSERT_EQ(expire(expiries[i]), Ids{static_cast<int>(i)});
  }
}

TEST_F(TimerWheelDly1, next_expiry_when_empty_then_no_tick) {
  EXPECT_EQ(wheel.next_expiry(), no_tick);
  arm(5);
  EXPECT_EQ(wheel.next_expiry(), 5U);
  expire(5);
  EXPECT_EQ(wheel.next_expiry(), no_tick);
}

TEST_F(TimerWheelDly1, next_expiry_when_only_timer_cancelled_then_no_tick) {
  for (const Tick power : powers_of_64()) {
    wheel.cancel(arm(power + 1));
    EXPECT_EQ(wheel.next_expiry(), no_tick);
  }
}

TEST_F(TimerWheelDly1, next_expiry_when_only_far_timer_then_one_wake_up) {
  const Tick far = (Tick{1} << 40) + 12'345;
  arm(far);
  EXPECT_EQ(early_wake_ups(), 0);
  EXPECT_EQ(wheel.now(), far);
}

TEST_F(TimerWheelDly1, next_expiry_when_nothing_cancelled_then_exact_in_any_arming_order) {
  std::mt19937_64 random(7);
  Tick earliest = no_tick;
  for (int i = 0; i < 500; ++i) {
    const Tick expiry = 1 + random() % 1'000'000;
    earliest = std::min(earliest, expiry);
    arm(expiry);
    ASSERT_EQ(wheel.next_expiry(), earliest);
  }
  while (!wheel.empty()) EXPECT_EQ(early_wake_ups(), 0);
}

TEST_F(TimerWheelDly1, next_expiry_when_earliest_of_ordered_slot_cancelled_then_exact) {
  std::vector<TestTimer*> armed;
  for (Tick expiry = 1'000'000; expiry < 1'000'200; ++expiry) armed.push_back(&arm(expiry));
  for (TestTimer* timer : armed) {
    ASSERT_EQ(wheel.next_expiry(), timer->key);
    wheel.cancel(*timer);
  }
}

TEST_F(TimerWheelDly1, next_expiry_when_earliest_of_small_unordered_slot_cancelled_then_exact) {
  std::vector<TestTimer*> armed;
  for (Tick i = 0; i <= TimerWheel::minimum_scan_limit; ++i) {
    armed.push_back(&arm(1'000'000 + i * 37 % 100));
  }
  std::ranges::sort(armed, {}, [](const TestTimer* timer) { return timer->key; });
  for (TestTimer* timer : armed) {
    ASSERT_EQ(wheel.next_expiry(), timer->key);
    wheel.cancel(*timer);
  }
}

TEST_F(TimerWheelDly1, next_expiry_when_earliest_of_large_unordered_slot_cancelled_then_one_early) {
  for (Tick i = 0; i < 64; ++i) arm(4096 + 100 + i * 37 % 64);
  TestTimer& earliest = arm(4096 + 10);
  EXPECT_EQ(wheel.next_expiry(), 4096U + 10);
  wheel.cancel(earliest);
  EXPECT_EQ(early_wake_ups(), 1);
  while (!wheel.empty()) EXPECT_EQ(early_wake_ups(), 0);
}

TEST_F(TimerWheelDly1, next_expiry_when_large_unordered_slot_cancelled_empty_then_no_wake_up_left) {
  TestTimer& earliest = arm(5000);
  std::vector<TestTimer*> others;
  for (Tick i = 0; i < 40; ++i) others.push_back(&arm(6000 - i));
  const TestTimer& last = arm(100'000);
  wheel.cancel(earliest);
  for (TestTimer* timer : others) wheel.cancel(*timer);
  EXPECT_EQ(wheel.next_expiry(), last.key);
}

TEST_F(TimerWheelDly1, next_expiry_when_most_of_many_cancelled_then_early_wake_ups_are_rare) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) arm(1 + random() % 60'000);
  for (TestTimer& timer : timers) {
    if (timer.id % 100 != 0) wheel.cancel(timer);
  }
  // The bound is one for each slot that cascades, hundreds here; nearly all slots need none.
  int early = 0;
  while (!wheel.empty()) early += early_wake_ups();
  RecordProperty("early_wake_ups", early);
  EXPECT_LE(early, 30);
}

TEST_F(TimerWheelDly1, expire_when_time_jumps_over_an_idle_age_then_rest_stays_exact) {
  arm(3);
  arm(half_of_all_ticks + 5);
  EXPECT_EQ(expire(half_of_all_ticks - 1), Ids{0});
  EXPECT_EQ(wheel.next_expiry(), half_of_all_ticks + 5);
  EXPECT_EQ(expire(half_of_all_ticks + 5), Ids{1});
}

TEST_F(TimerWheelDly1, expire_when_time_goes_back_then_it_stays) {
  expire(100);
  EXPECT_EQ(wheel.expire(50, [](LoopNode&) noexcept {}), 0U);
  EXPECT_EQ(wheel.now(), 100U);
}

// Rule: DLY-2 (equal ticks first in, first out; shorter first)

TEST_F(TimerWheelDly2, expire_when_equal_ticks_then_arming_order) {
  for (int i = 0; i < 5; ++i) arm(1000);
  EXPECT_EQ(expire(1000), (Ids{0, 1, 2, 3, 4}));
}

TEST_F(TimerWheelDly2, expire_when_equal_ticks_armed_at_every_level_then_arming_order) {
  const Tick expiry = half_of_all_ticks + 7;
  Ids expected;
  for (unsigned shift = 63; shift > 0; --shift) {
    expected.push_back(arm(expiry).id);
    expected.push_back(arm(expiry).id);
    EXPECT_EQ(expire(expiry - (Tick{1} << (shift - 1))), Ids{});
  }
  EXPECT_EQ(expire(expiry), expected);
}

TEST_F(TimerWheelDly2, expire_when_equal_ticks_cross_an_unordered_cascade_then_arming_order) {
  arm(5000);
  arm(4999);
  arm(5000);
  arm(5050);
  EXPECT_EQ(expire(4500), Ids{});
  arm(4999);
  arm(5000);
  EXPECT_EQ(expire(6000), (Ids{1, 4, 0, 2, 5, 3}));
}

TEST_F(TimerWheelDly2, expire_when_armed_latest_first_then_earliest_first) {
  const std::vector<Tick> powers = powers_of_64();
  Ids expected;
  for (const Tick power : powers | std::views::reverse) {
    expected.insert(expected.begin(), arm(power).id);
  }
  EXPECT_EQ(expire(powers.back()), expected);
}

TEST_F(TimerWheelDly2, expire_when_slot_is_partly_due_then_rest_waits_in_order) {
  arm_all({4096 + 900, 4096 + 100, 4096 + 900, 4096 + 500});
  EXPECT_EQ(expire(4096 + 499), Ids{1});
  EXPECT_EQ(expire(4096 + 900), (Ids{3, 0, 2}));
}

TEST_F(TimerWheelDly2, expire_when_ordered_slot_is_partly_due_then_rest_waits_in_order) {
  arm_all({4096 + 100, 4096 + 100, 4096 + 500, 4096 + 501});
  EXPECT_EQ(expire(4096 + 500), (Ids{0, 1, 2}));
  EXPECT_EQ(expire(4096 + 501), Ids{3});
}

TEST_F(TimerWheelDly2, arm_when_tick_is_past_then_due_at_next_expire) {
  expire(100);
  arm(100);
  arm(40);
  EXPECT_EQ(wheel.next_expiry(), 40U);
  EXPECT_EQ(expire(100), (Ids{1, 0}));
}

TEST_F(TimerWheelDly2, expire_when_many_armed_for_the_past_then_tick_and_arming_order) {
  expire(1000);
  std::vector<std::pair<Tick, int>> expected;
  for (Tick i = 0; i < 100; ++i) {
    const Tick expiry = 1000 - i * 37 % 50;
    expected.emplace_back(expiry, arm(expiry).id);
  }
  expected.emplace_back(1001, arm(1001).id);
  std::ranges::sort(expected);
  Ids expected_ids;
  for (const auto& [expiry, id] : expected) expected_ids.push_back(id);
  EXPECT_EQ(expire(1001), expected_ids);
}

// Rule: DLY-3 (beyond the clock's range: never fires, can be cancelled)

TEST_F(TimerWheelDly3, arm_when_never_then_expects_nothing_and_cancels) {
  TestTimer& never = arm(no_tick);
  EXPECT_EQ(wheel.next_expiry(), no_tick);
  EXPECT_EQ(expire(no_tick - 1), Ids{});
  EXPECT_EQ(wheel.size(), 1U);
  wheel.cancel(never);
  EXPECT_TRUE(wheel.empty());
}

TEST_F(TimerWheelDly3, expire_when_huge_ticks_then_in_order) {
  arm_all({no_tick - 1, half_of_all_ticks, half_of_all_ticks - 1, 1});
  EXPECT_EQ(expire(half_of_all_ticks - 1), (Ids{3, 2}));
  EXPECT_EQ(wheel.next_expiry(), half_of_all_ticks);
  EXPECT_EQ(expire(no_tick - 1), (Ids{1, 0}));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
