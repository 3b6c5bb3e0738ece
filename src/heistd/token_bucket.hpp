// TokenBucket: how often something may be done.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heistd/client_limits.hpp>
#include <optional>

namespace heistd {

/// Allows so much at once, and then as much as the rate says. It knows only when the bucket would
/// be full, so that nothing has to fill it.
class TokenBucket {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The time that a full bucket needed so far stays as it is.
  void set(const ClientLimits& limits) noexcept {
    interval_ = limits.rate > 0 ? std::chrono::nanoseconds(limits.per) / limits.rate
                                : std::chrono::nanoseconds{};
    ahead_ = limits.rate > 0 ? interval_ * (limits.most_at_once() - 1) : interval_;
  }

  /// Takes one; or says how long it takes until there is one.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> take(TimePoint now) noexcept {
    const auto early = full_at_ - now - ahead_;
    if (interval_.count() > 0 && early.count() > 0) return early;
    full_at_ = std::max(full_at_, now) + interval_;
    return std::nullopt;
  }
  /// Takes one that need not be there yet: later ones wait for it.
  void owe(TimePoint now) noexcept {
    if (interval_.count() == 0) return;
    full_at_ = std::min(std::max(full_at_, now) + interval_, now + longest_debt);
  }

 private:
  /// Of times in nanoseconds, so that none overflows.
  static constexpr std::chrono::years longest_debt{100};

  std::chrono::nanoseconds interval_{};  ///< zero: no limit
  std::chrono::nanoseconds ahead_{};     ///< how much later than now the bucket may be full
  TimePoint full_at_;
};

}  // namespace heistd
