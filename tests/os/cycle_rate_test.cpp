// Rule: DLY-1. The processor's counter never makes a time last longer than the clock says.
#include <gtest/gtest.h>

#include <cstdint>
#include <heist/detail/cycle_rate.hpp>

namespace HEIST_NAMESPACE::detail {
namespace {

/// A machine whose counter counts a million in a millisecond of its clock.
class CycleRateOfAMachine : public testing::Test {
 protected:
  void SetUp() override {
    measure();
    pass(2);
    measure();
    if (rate_.counts_within(a_millisecond) == 0) GTEST_SKIP() << "no counter of constant rate";
  }

  /// Time passes as the clock has it; then the machine is paused, and only the counter goes on.
  void pass(int ms, int paused_ms = 0) {
    now_ += Milliseconds(ms);
    count_ += static_cast<std::uint64_t>(ms + paused_ms) * counts_per_ms;
  }
  void measure() { rate_.measure(count_, now_, count_); }
  void expect_never_too_fast() const {
    EXPECT_LE(rate_.counts_within(a_millisecond), counts_per_ms);
  }

  using Milliseconds = CycleRate::Milliseconds;
  static constexpr std::uint64_t counts_per_ms = 1'000'000;
  static constexpr Milliseconds a_millisecond{1};

  CycleRate rate_{true};
  std::uint64_t count_ = 1;
  Milliseconds now_{0};
};

TEST_F(CycleRateOfAMachine, measure_when_all_is_well_then_knows_the_rate_to_one_percent) {
  expect_never_too_fast();
  EXPECT_GE(rate_.counts_within(a_millisecond), counts_per_ms * 98 / 100);
}

TEST_F(CycleRateOfAMachine, measure_when_only_the_counter_went_on_then_no_rate_is_too_fast) {
  for (int second = 0; second < 5; ++second) {
    pass(10, second == 2 ? 60'000 : 0);
    for (int step = 0; step < 100; ++step) {
      pass(10);
      measure();
      expect_never_too_fast();
    }
  }
}

TEST_F(CycleRateOfAMachine, measure_when_once_too_slow_then_approaches_the_rate) {
  pass(1);
  now_ += Milliseconds(999);  // As though the thread had lost its CPU before it read the clock.
  measure();
  ASSERT_LE(rate_.counts_within(a_millisecond), counts_per_ms / 100);
  for (int second = 0; second < 1000; ++second) {
    pass(1001);
    measure();
    expect_never_too_fast();
  }
  EXPECT_GE(rate_.counts_within(a_millisecond), counts_per_ms * 98 / 100);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
