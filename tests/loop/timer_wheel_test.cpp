#include "heist/loop/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <heist/loop_node.hpp>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace heist {
namespace {

constexpr LoopNodeOps no_ops{};
constexpr Tick half_of_all_ticks = Tick{1} << 63;

struct TestTimer : LoopNode {
  explicit TestTimer(int number) : LoopNode(no_ops), id(number) {}
  int id;
};

int id_of(const LoopNode& node) { return static_cast<const TestTimer&>(node).id; }

/// 1, 64, 64^2 ... 64^10: where each level of the wheel begins.
std::vector<Tick> powers_of_64() {
  std::vector<Tick> powers;
  for (unsigned shift = 0; shift < 64; shift += 6) powers.push_back(Tick{1} << shift);
  return powers;
}

/// A wheel whose nodes are numbered in the order of their creation.
class TimerWheelFixture : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_TRUE(wheel.check_invariants());
    wheel.drain([](LoopNode&) {});
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(wheel.next_expiry(), no_tick);
    EXPECT_TRUE(wheel.check_invariants());
  }

  TestTimer& new_timer() { return timers.emplace_back(static_cast<int>(timers.size())); }

  TestTimer& arm(Tick expiry) {
    TestTimer& timer = new_timer();
    wheel.arm(timer, expiry);
    return timer;
  }

  void arm_all(std::initializer_list<Tick> expiries) {
    for (const Tick expiry : expiries) arm(expiry);
  }

  /// The ids that fire, in order.
  std::vector<int> expire(Tick now) {
    std::vector<int> fired;
    const std::size_t count =
        wheel.expire(now, [&](LoopNode& node) noexcept { fired.push_back(id_of(node)); });
    EXPECT_EQ(count, fired.size());
    EXPECT_EQ(wheel.now(), now);
    EXPECT_TRUE(wheel.check_invariants());
    return fired;
  }

  /// Sleeps to next_expiry() until something fires; how often it woke for nothing.
  int early_wake_ups() {
    int early = 0;
    while (!wheel.empty() && expire(wheel.next_expiry()).empty()) ++early;
    return early;
  }

  TimerWheel wheel;
  std::deque<TestTimer> timers;
};

using Ids = std::vector<int>;

class TimerWheelDly1 : public TimerWheelFixture {};
class TimerWheelDly2 : public TimerWheelFixture {};
class TimerWheelDly3 : public TimerWheelFixture {};
class TimerWheelCancel : public TimerWheelFixture {};
class TimerWheelFire : public TimerWheelFixture {};
class TimerWheelSelfCheck : public TimerWheelFixture {};

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

// Random histories against a reference model

/// The obvious timers: a map by (expiry tick, arming order).
class ReferenceTimers {
 public:
  explicit ReferenceTimers(std::size_t count) : keys_(count) {}

  void arm(int id, Tick expiry) {
    key_of(id) = {expiry, next_order_++};
    armed_.emplace(*key_of(id), id);
  }
  void cancel(int id) {
    armed_.erase(*key_of(id));
    due_.erase(*key_of(id));
    key_of(id).reset();
  }
  void begin_expire(Tick now) {
    const auto end = armed_.upper_bound({now, no_tick});
    due_.insert(armed_.begin(), end);
    armed_.erase(armed_.begin(), end);
  }
  /// The next id that must fire, or -1.
  int take_due() {
    if (due_.empty()) return -1;
    const int id = due_.begin()->second;
    due_.erase(due_.begin());
    key_of(id).reset();
    return id;
  }
  [[nodiscard]] bool is_armed(int id) const {
    return keys_[static_cast<std::size_t>(id)].has_value();
  }
  [[nodiscard]] std::size_t size() const { return armed_.size() + due_.size(); }
  [[nodiscard]] Tick earliest() const {
    return armed_.empty() ? no_tick : armed_.begin()->first.first;
  }

 private:
  using Key = std::pair<Tick, std::uint64_t>;
  std::optional<Key>& key_of(int id) { return keys_[static_cast<std::size_t>(id)]; }

  std::map<Key, int> armed_;
  std::map<Key, int> due_;
  std::vector<std::optional<Key>> keys_;
  std::uint64_t next_order_ = 0;
};

struct History {
  const char* name;
  Tick start;
  unsigned delay_bits;  ///< Delays below 2^delay_bits.
  bool cancels;
};

std::ostream& operator<<(std::ostream& out, const History& history) { return out << history.name; }

class TimerWheelRandom : public testing::TestWithParam<History> {
 protected:
  static constexpr int timer_count = 96;

  TimerWheelRandom() {
    for (int id = 0; id < timer_count; ++id) timers_.emplace_back(id);
  }

  void run(std::uint64_t seed, int steps) {
    random_.seed(seed);
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      step();
      check();
    }
    wheel_.drain([&](LoopNode& node) { reference_.cancel(id_of(node)); });
    EXPECT_EQ(reference_.size(), 0U);
  }

 private:
  Tick below(Tick bound) { return random_() % bound; }

  void step() {
    if (below(4) == 0) {
      expire();
    } else {
      toggle();
    }
  }

  /// Arms an idle timer or cancels an armed one.
  void toggle() {
    const int id = static_cast<int>(below(timer_count));
    if (!reference_.is_armed(id)) {
      arm(id);
    } else if (GetParam().cancels) {
      reference_.cancel(id);
      wheel_.cancel(timers_[static_cast<std::size_t>(id)]);
    }
  }

  void arm(int id) {
    const Tick expiry = some_expiry();
    reference_.arm(id, expiry);
    wheel_.arm(timers_[static_cast<std::size_t>(id)], expiry);
  }

  /// Few distinct ticks as well, so that equal ones are common; now and then one in the past.
  Tick some_expiry() {
    const Tick now = wheel_.now();
    if (below(16) == 0) return now - std::min(now, below(70));
    const Tick delay = random_() >> (64 - GetParam().delay_bits);
    const Tick expiry = delay > no_tick - now ? no_tick : now + delay;
    return below(2) == 0 ? expiry : std::max(now, expiry & ~Tick{0x1F});
  }

  Tick some_time() {
    switch (below(4)) {
      case 0:
        return wheel_.now();
      case 1:
        return some_expiry();
      default:
        return wheel_.next_expiry() == no_tick ? wheel_.now() : wheel_.next_expiry();
    }
  }

  void expire() {
    const Tick now = std::max(wheel_.now(), some_time());
    reference_.begin_expire(now);
    wheel_.expire(now, [&](LoopNode& node) noexcept {
      EXPECT_EQ(id_of(node), reference_.take_due());
      for (Tick changes = below(3); changes > 0; --changes) toggle();
      EXPECT_TRUE(wheel_.check_invariants());
    });
    EXPECT_EQ(reference_.take_due(), -1);
    EXPECT_EQ(wheel_.now(), now);
  }

  void check() {
    ASSERT_TRUE(wheel_.check_invariants());
    ASSERT_EQ(wheel_.size(), reference_.size());
    ASSERT_LE(wheel_.next_expiry(), reference_.earliest());
    if (wheel_.empty()) {
      ASSERT_EQ(wheel_.next_expiry(), no_tick);
    }
    if (!GetParam().cancels) {
      ASSERT_EQ(wheel_.next_expiry(), reference_.earliest());
    }
  }

  std::mt19937_64 random_;
  std::deque<TestTimer> timers_;
  TimerWheel wheel_{GetParam().start};
  ReferenceTimers reference_{timer_count};
};

// Rule: DLY-1, DLY-2
TEST_P(TimerWheelRandom, history_when_compared_with_reference_then_equal) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    run(seed, 4000);
  }
}

INSTANTIATE_TEST_SUITE_P(Histories, TimerWheelRandom,
                         testing::Values(History{"one_level", 0, 5, true},
                                         History{"two_levels", 60, 9, true},
                                         History{"three_levels", 4000, 14, true},
                                         History{"three_levels_no_cancel", 4000, 14, false},
                                         History{"seven_levels", Tick{1} << 40, 38, true},
                                         History{"past_half", half_of_all_ticks - 5000, 13, true},
                                         History{"all_levels", 0, 62, true},
                                         History{"all_levels_no_cancel", 0, 62, false},
                                         History{"end_of_time", no_tick - 3000, 12, true}),
                         [](const auto& history) { return std::string(history.param.name); });

}  // namespace
}  // namespace heist
