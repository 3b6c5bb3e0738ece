// CycleRate: the processor's counter, and how fast it counts.
#pragma once

#include <cstdint>
#include <heist/detail/durations.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// A counter of constant rate, or always zero.   Cost: some 25 cycles on x86-64; not measured on
/// aarch64. The processor does not order it with the code around it.
[[nodiscard]] inline std::uint64_t cycle_count() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return 0;
#endif
}

/// Whether cycle_count() counts at a constant rate.   Cost: a virtual machine traps the first time.
[[nodiscard]] bool has_constant_rate() noexcept;

/// Reading the steady clock takes twice as long as reading the processor's counter. So the counter
/// answers where it is sure that a time is not over. It is used only if the processor says that it
/// counts at a constant rate. That rate is measured between readings of the clock, with a count
/// before and one after each, so that a thread that loses its CPU in between only takes the counter
/// for slower than it is.
///
/// While the whole machine is paused, the counter may go on and the clock may not, and then the
/// counter seems faster than it is. So a rate is believed once two were measured, and only the
/// lower one; later it rises by a thousandth at most with each one that is measured. Only the first
/// nine tenths of a time are left to the counter, because the clock may be made to go faster to
/// catch up with the world's, by some percent, and a caller's own clock may be coarse.
///
/// Thread: one at a time.
class CycleRate {
 public:
  using Milliseconds = std::chrono::duration<double, std::milli>;

  /// `is_real`: whether the clock goes by itself. If not, no count says anything about it.
  explicit CycleRate(bool is_real) noexcept;

  /// Measures the rate, each time over 10 ms to 10 s. The clock, which says `now`, was read between
  /// the two counts.
  void measure(std::uint64_t before, Milliseconds now, std::uint64_t after) noexcept;
  /// A number of counts that take less than the time; zero while the rate is not known.
  [[nodiscard]] std::uint64_t counts_within(Milliseconds time) const noexcept;

 private:
  void believe(double counts_per_ms) noexcept;

  double counts_per_ms_ = 0;  ///< zero: not known
  double earlier_ = 0;        ///< the rate that was measured before; zero: none was
  // The count and the time from which the rate is measured.
  std::uint64_t first_count_ = 0;
  Milliseconds first_time_{};
  bool has_counter_;
};

}  // namespace HEIST_NAMESPACE::detail
