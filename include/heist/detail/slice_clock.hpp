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

  /// Whether time_before() may help.
  [[nodiscard]] bool counts() const noexcept { return rate_.is_known(); }
  /// A time for a caller that only wants to know what is over, of which `next` would be the next:
  /// the time that was read last, if `next` has surely not come yet, else that of the clock.
  [[nodiscard]] Milliseconds time_before(Milliseconds next) noexcept {
    if (next != next_) {
      next_ = next;
      surely_before_next_ = rate_.counts_within(next - read_);
    }
    return cycle_count() - asked_at_ < surely_before_next_ ? read_ : read();
  }

 private:
  Milliseconds read() noexcept;
  [[nodiscard]] bool ask_clock() noexcept;
  void keep(Milliseconds now) noexcept;

  bool is_ended_ = false;
  std::uint64_t asked_at_ = 0;  ///< the count when the clock was read last
  /// For so many counts more the slice lasts. Zero: the counter says nothing, or the slice was
  /// ended early.
  std::uint64_t surely_within_ = 0;
  Milliseconds next_{-1};                 ///< what time_before() was asked for last, ...
  std::uint64_t surely_before_next_ = 0;  ///< ... which for so many counts does not come
  const CooperativeHost& host_;
  Milliseconds read_{-1};  ///< what the clock said then
  Milliseconds began_{-1};
  Milliseconds interval_{5};
  CycleRate rate_;
};

}  // namespace HEIST_NAMESPACE::detail
