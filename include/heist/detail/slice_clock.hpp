// SliceClock: tells whether a slice of work is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/cooperative_host.hpp>
#include <heist/detail/cycle_rate.hpp>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Tells when the slice of a cooperative scheduler ends, which is exactly when its host's clock
/// says so. Within the first 99 % of the slice the processor's counter answers (CycleRate), by the
/// rate that was measured in earlier slices. A count that is behind the earlier one, or far ahead
/// of it, as a thread may find it on another CPU, is not believed.
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
  void trust_counter() noexcept;

  bool is_ended_ = false;
  std::uint64_t began_at_count_ = 0;
  std::uint64_t surely_within_ =
      0;  ///< counts; zero: the counter says nothing, or it was ended early
  const CooperativeHost& host_;
  Milliseconds began_{-1};
  Milliseconds interval_{5};
  CycleRate rate_;
};

}  // namespace HEIST_NAMESPACE::detail
