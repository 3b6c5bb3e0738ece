// What happens to timers meanwhile: cancelled, armed and cancelled while others fire, broken.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "loop/timer_wheel_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using test::id_of;
using test::Ids;
using test::powers_of_64;
using test::TestTimer;

class TimerWheelCancel : public test::TimerWheelFixture {};
class TimerWheelFire : public test::TimerWheelFixture {};
class TimerWheelSelfCheck : public test::TimerWheelFixture {};

// Cancelling

TEST_F(TimerWheelCancel, cancel_when_any_position_of_a_slot_then_only_others_fire) {
  for (const Tick power : powers_of_64()) {
    for (std::size_t position = 0; position < 4; ++position) {
      SCOPED_TRACE(testing::Message() << power << " position " << position);
      TimerWheel fresh(power - 1);
      std::array<TestTimer, 4> fresh_timers{TestTimer(0), TestTimer(1), TestTimer(2), TestTimer(3)};
      for (TestTimer& timer : fresh_timers) fresh.arm(timer, power);
      fresh.cancel(fresh_timers.at(position));
      EXPECT_TRUE(fresh.check_invariants());
      EXPECT_EQ(fresh.size(), 3U);
      Ids fired;
      fresh.expire(power, [&](LoopNode& node) noexcept { fired.push_back(id_of(node)); });
      Ids expected{0, 1, 2, 3};
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(position));
      EXPECT_EQ(fired, expected);
    }
  }
}

TEST_F(TimerWheelCancel, cancel_when_due_but_not_expired_then_never_fires) {
  expire(10);
  arm_all({9, 3, 7, 10});
  wheel.cancel(timers[1]);
  EXPECT_TRUE(wheel.check_invariants());
  EXPECT_EQ(wheel.next_expiry(), 7U);
  wheel.cancel(timers[3]);
  EXPECT_EQ(expire(10), (Ids{2, 0}));
}

TEST_F(TimerWheelCancel, cancel_when_cascaded_meanwhile_then_never_fires) {
  TestTimer& moved = arm(5000);
  arm(5001);
  expire(4990);
  wheel.cancel(moved);
  EXPECT_EQ(wheel.next_expiry(), 5001U);
  EXPECT_EQ(expire(5001), Ids{1});
}

TEST_F(TimerWheelCancel, arm_when_cancelled_before_then_fires_at_the_new_tick) {
  TestTimer& timer = arm(100);
  wheel.cancel(timer);
  wheel.arm(timer, 200);
  EXPECT_EQ(expire(199), Ids{});
  EXPECT_EQ(expire(200), Ids{0});
}

TEST_F(TimerWheelCancel, drain_when_nodes_everywhere_then_each_handed_out_once) {
  expire(50);
  arm_all({50, 20, 51, 51, 9000, no_tick});
  std::vector<int> drained;
  wheel.drain([&](LoopNode& node) { drained.push_back(id_of(node)); });
  std::ranges::sort(drained);
  EXPECT_EQ(drained, (Ids{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(wheel.next_expiry(), no_tick);
}

// Arming and cancelling while nodes fire

TEST_F(TimerWheelFire, fire_when_it_arms_its_node_for_now_then_due_at_next_expire) {
  TestTimer& timer = arm(100);
  const auto again = [&](LoopNode& node) noexcept { wheel.arm(node, wheel.now()); };
  EXPECT_EQ(wheel.expire(100, again), 1U);
  EXPECT_EQ(wheel.next_expiry(), 100U);
  EXPECT_EQ(expire(100), Ids{timer.id});
}

TEST_F(TimerWheelFire, fire_when_it_arms_for_between_its_tick_and_now_then_due_at_next_expire) {
  arm(100);
  arm(900);
  TestTimer& between = new_timer();
  Ids fired;
  wheel.expire(1000, [&](LoopNode& node) noexcept {
    fired.push_back(id_of(node));
    if (id_of(node) == 0) wheel.arm(between, 500);
    EXPECT_EQ(wheel.now(), 1000U);
    EXPECT_TRUE(wheel.check_invariants());
  });
  EXPECT_EQ(fired, (Ids{0, 1}));
  EXPECT_EQ(wheel.next_expiry(), 500U);
  EXPECT_EQ(expire(1000), Ids{between.id});
}

TEST_F(TimerWheelFire, fire_when_it_arms_for_later_then_fires_then) {
  arm(100);
  const auto again = [&](LoopNode& node) noexcept { wheel.arm(node, 70'000); };
  wheel.expire(5000, again);
  EXPECT_EQ(wheel.next_expiry(), 70'000U);
  EXPECT_EQ(expire(69'999), Ids{});
  EXPECT_EQ(expire(70'000), Ids{0});
}

TEST_F(TimerWheelFire, fire_when_it_cancels_nodes_due_in_the_same_call_then_they_do_not_fire) {
  // The victims share the tick (middle and end), are in later slots, and on a higher level.
  for (int victim = 1; victim <= 8; ++victim) {
    SCOPED_TRACE(victim);
    TimerWheel fresh;
    std::deque<TestTimer> fresh_timers;
    for (const Tick expiry : std::initializer_list<Tick>{0, 0, 0, 0, 1, 30, 31, 5000, 5001}) {
      fresh.arm(fresh_timers.emplace_back(static_cast<int>(fresh_timers.size())), 100 + expiry);
    }
    Ids fired;
    fresh.expire(5500, [&](LoopNode& node) noexcept {
      fired.push_back(id_of(node));
      if (id_of(node) == 0) fresh.cancel(fresh_timers[static_cast<std::size_t>(victim)]);
      EXPECT_TRUE(fresh.check_invariants());
    });
    Ids expected{0, 1, 2, 3, 4, 5, 6, 7, 8};
    std::erase(expected, victim);
    EXPECT_EQ(fired, expected);
    EXPECT_TRUE(fresh.empty());
  }
}

TEST_F(TimerWheelFire, fire_when_it_cancels_what_it_armed_as_due_then_never_fires) {
  arm(100);
  std::vector<TestTimer*> late{&new_timer(), &new_timer(), &new_timer(), &new_timer()};
  wheel.expire(1000, [&](LoopNode&) noexcept {
    for (TestTimer* timer : late) wheel.arm(*timer, 500);
    for (const std::size_t victim : {1U, 0U, 3U}) {
      wheel.cancel(*late[victim]);
      EXPECT_TRUE(wheel.check_invariants());
    }
  });
  EXPECT_EQ(wheel.size(), 1U);
  EXPECT_EQ(expire(1000), Ids{late[2]->id});
}

TEST_F(TimerWheelFire, fire_when_last_timer_cancelled_in_it_then_no_wake_up_left) {
  arm(100);
  TestTimer& other = arm(9000);
  wheel.expire(100, [&](LoopNode&) noexcept { wheel.cancel(other); });
  EXPECT_EQ(wheel.next_expiry(), no_tick);
}

TEST_F(TimerWheelFire, fire_when_it_destroys_its_node_then_others_still_fire) {
  std::vector<std::unique_ptr<TestTimer>> owned;
  for (int i = 0; i < 200; ++i) {
    owned.push_back(std::make_unique<TestTimer>(i));
    wheel.arm(*owned.back(), 1 + static_cast<Tick>(i) * 37 % 5000);
  }
  std::size_t fired = wheel.expire(
      5000, [&](LoopNode& node) noexcept { owned[static_cast<std::size_t>(id_of(node))].reset(); });
  EXPECT_EQ(fired, 200U);
}

// The self-check itself

TEST_F(TimerWheelSelfCheck, check_invariants_when_key_of_armed_node_changes_then_false) {
  arm(70);
  TestTimer& timer = arm(80);
  timer.key = 200;
  EXPECT_FALSE(wheel.check_invariants());
  timer.key = 60;
  EXPECT_FALSE(wheel.check_invariants());
  timer.key = 80;
}

TEST_F(TimerWheelSelfCheck, check_invariants_when_a_link_is_wrong_then_false) {
  TestTimer& first = arm(70);
  TestTimer& second = arm(70);
  second.prev = nullptr;
  EXPECT_FALSE(wheel.check_invariants());
  second.prev = &first;
  first.next = nullptr;
  EXPECT_FALSE(wheel.check_invariants());
  first.next = &second;
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
