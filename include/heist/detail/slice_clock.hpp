// SliceClock: tells whether a slice of work is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/cooperative_host.hpp>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// A counter of constant rate, or always zero.   Cost: some 25 cycles on x86-64. The processor does
/// not order it with the code around it.
[[nodiscard]] inline std::uint64_t cycle_count() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

/// Tells when the slice of a cooperative scheduler ends, which is exactly when its host's clock
/// says so. Reading that clock takes twice as long as reading the processor's counter. So the
/// counter answers where it is sure: within the first 99 % of the slice, by the rate that was
/// measured in earlier slices. The counter is used only if the processor says that it counts at a
/// constant rate. A count that is behind the earlier one, or far ahead of it, as a thread may find
/// it on another CPU, is not believed. The rate is measured with a count before and one after the
/// clock, so that a thread that loses its CPU in between only asks the clock earlier.
///
/// Thread: the host's.
class HEIST_EXPORT SliceClock {
 public:
  explicit SliceClock(const CooperativeHost& host) noexcept;

  /// Begins a slice. Returns the time of the host's clock.
  Milliseconds begin() noexcept;
  /// Ends the slice whatever time is left. It stays ended until the next one begins.
  void end_early() noexcept {
    is_ended_ = true;
    surely_within_ = 0;
  }
  void forget_early_end() noexcept { is_ended_ = false; }
  void set_interval(Milliseconds interval) noexcept;

  [[nodiscard]] bool is_over() const noexcept {
    if (cycle_count() - began_at_count_ < surely_within_) return false;
    return ask_clock();
  }
  /// As is_over(), for a caller that has just read the host's clock.
  [[nodiscard]] bool is_over_at(Milliseconds now) const noexcept {
    return is_ended_ || now - began_ >= interval_;
  }
  [[nodiscard]] Milliseconds deadline() const noexcept { return began_ + interval_; }

 private:
  [[nodiscard]] bool ask_clock() const noexcept;
  /// Measures the rate; the clock was read between the two counts.
  void measure_rate(std::uint64_t before, Milliseconds now, std::uint64_t after) noexcept;
  void trust_counter() noexcept;

  bool is_ended_ = false;
  std::uint64_t began_at_count_ = 0;
  std::uint64_t surely_within_ =
      0;  ///< counts; zero: the counter says nothing, or it was ended early
  const CooperativeHost& host_;
  Milliseconds began_{-1};
  Milliseconds interval_{5};
  double counts_per_ms_ = 0;  ///< a lower bound; zero: not known
  // The count and the time from which the rate is measured.
  std::uint64_t first_count_ = 0;
  Milliseconds first_time_{};
  bool has_counter_;
};

}  // namespace HEIST_NAMESPACE::detail
