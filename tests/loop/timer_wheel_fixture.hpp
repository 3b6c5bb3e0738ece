// A timer wheel and its nodes, numbered in the order of their creation.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <heist/detail/loop_node.hpp>
#include <initializer_list>
#include <vector>

#include "heist/task/timer_wheel.hpp"

namespace heist::test {

using namespace detail;

inline constexpr LoopNodeOps no_ops{};
inline constexpr Tick half_of_all_ticks = Tick{1} << 63;

struct TestTimer : LoopNode {
  explicit TestTimer(int number) : LoopNode(no_ops), id(number) {}
  int id;
};

inline int id_of(const LoopNode& node) { return static_cast<const TestTimer&>(node).id; }

/// 1, 64, 64^2 ... 64^10: where each level of the wheel begins.
inline std::vector<Tick> powers_of_64() {
  std::vector<Tick> powers;
  for (unsigned shift = 0; shift < 64; shift += 6) powers.push_back(Tick{1} << shift);
  return powers;
}

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

}  // namespace heist::test
