// Rule: DLY-1. The processor's counter never makes a time last longer than the clock says.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <heist/detail/cycle_rate.hpp>

namespace HEIST_NAMESPACE::detail {
namespace {

/// A machine whose counter counts a million in a millisecond of its clock.
class CycleRateOfAMachine : public testing::Test {
 protected:
  void SetUp() override {
    CycleRate known(true);
    for (const int ms : {0, 10, 20}) known.measure(count_at(ms), Milliseconds(ms), count_at(ms));
    if (known.counts_within(a_millisecond) == 0) GTEST_SKIP() << "no counter of constant rate";
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
  void expect_known() const {
    expect_never_too_fast();
    EXPECT_GE(rate_.counts_within(a_millisecond), counts_per_ms * 85 / 100);
  }

  using Milliseconds = CycleRate::Milliseconds;
  static constexpr std::uint64_t counts_per_ms = 1'000'000;
  static constexpr Milliseconds a_millisecond{1};
  static std::uint64_t count_at(int ms) {
    return 1 + static_cast<std::uint64_t>(ms) * counts_per_ms;
  }

  CycleRate rate_{true};
  std::uint64_t count_ = count_at(0);
  Milliseconds now_{0};
};

TEST_F(CycleRateOfAMachine, measure_when_all_is_well_then_knows_the_rate_soon) {
  for (int step = 0; step <= 20; ++step) {
    measure();
    expect_never_too_fast();
    pass(1);
  }
  expect_known();
}

TEST_F(CycleRateOfAMachine, measure_when_only_the_counter_goes_on_then_no_rate_is_too_fast) {
  for (int step = 0; step < 100; ++step) {
    measure();
    expect_never_too_fast();
    const bool is_paused = step == 0 || step > 50;  // in the first time that is measured, and often
    pass(10, is_paused ? 60'000 : 0);
  }
}

TEST_F(CycleRateOfAMachine, measure_when_the_counter_falls_behind_then_no_rate_is_too_fast) {
  for (int step = 0; step < 100; ++step) {
    pass(10);
    measure();
    expect_never_too_fast();
    if (step % 3 == 0) count_ -= 7 * counts_per_ms;  // on another CPU, ...
    if (step % 3 == 1) count_ += 7 * counts_per_ms;  // ... and back
  }
}

TEST_F(CycleRateOfAMachine, measure_when_the_clock_shows_milliseconds_then_no_rate_is_too_fast) {
  for (int step = 0; step < 1000; ++step) {
    count_ += 1'990'000;
    now_ = Milliseconds(static_cast<double>(count_ / counts_per_ms));
    measure();
    expect_never_too_fast();
  }
  expect_known();
}

TEST_F(CycleRateOfAMachine, measure_when_once_too_slow_then_approaches_the_rate) {
  for (const int lost_ms : {0, 900}) {  // The thread may lose its CPU before it reads the clock.
    pass(100);
    now_ += Milliseconds(lost_ms);
    measure();
  }
  for (int step = 0; step < 3000; ++step) {
    pass(100);
    measure();
    expect_never_too_fast();
  }
  expect_known();
}

TEST(CycleCount, count_when_the_clock_goes_on_then_greater) {
  if (!has_constant_rate()) GTEST_SKIP() << "no counter of constant rate";
  using Clock = std::chrono::steady_clock;
  const std::uint64_t before = cycle_count();
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(10);
  while (Clock::now() < end) {
  }
  EXPECT_GT(cycle_count(), before);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
