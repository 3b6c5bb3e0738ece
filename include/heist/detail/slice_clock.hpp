// SliceClock: tells whether a slice of work is over.
#pragma once

#include <cstdint>
#include <heist/cooperative_host.hpp>
#include <heist/detail/cycle_rate.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Tells when the slice of a cooperative scheduler ends, which is exactly when its host's clock
/// says so. While the slice surely lasts, the processor's counter answers (CycleRate), by the rate
/// that was measured in earlier slices. As in TickReader, the counters of all CPUs are taken for
/// synchronised.
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

  [[nodiscard]] bool is_over() noexcept {
    if (cycle_count() - asked_at_ < surely_within_) return false;
    return ask_clock();
  }
  /// As is_over(), for a caller that has just read the host's clock.
  [[nodiscard]] bool is_over_at(Milliseconds now) const noexcept {
    return is_ended_ || now - began_ >= interval_;
  }
  [[nodiscard]] Milliseconds deadline() const noexcept { return began_ + interval_; }

 private:
  [[nodiscard]] bool ask_clock() noexcept;
  void trust_counter(Milliseconds now) noexcept;

  bool is_ended_ = false;
  std::uint64_t asked_at_ = 0;  ///< the count when the clock was read last
  /// For so many counts more the slice lasts. Zero: the counter says nothing, or the slice was
  /// ended early.
  std::uint64_t surely_within_ = 0;
  const CooperativeHost& host_;
  Milliseconds began_{-1};
  Milliseconds interval_{5};
  CycleRate rate_;
};

}  // namespace HEIST_NAMESPACE::detail
