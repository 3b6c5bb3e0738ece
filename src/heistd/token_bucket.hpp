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
  /// How much longer one has to wait at the most because of a debt. The rest is forgiven.
  static constexpr std::chrono::hours longest_debt{1};

  /// As many are missing as before, and they come back as fast as the new rate says; without a rate
  /// none is missing.
  void set(const ClientLimits& limits, TimePoint now) noexcept {
    const auto missing = this->missing(now);
    const bool has_rate = limits.rate > 0;
    interval_ = has_rate ? std::chrono::nanoseconds(limits.per) / limits.rate : Time{};
    ahead_ = has_rate ? interval_ * (limits.most_at_once() - 1) : Time{};
    const auto full_in = std::min<RoughTime>(missing * RoughTime(interval_), longest_until_full());
    full_at_ = now + std::chrono::duration_cast<Time>(full_in);
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
    full_at_ = std::min(std::max(full_at_, now) + interval_, now + longest_until_full());
  }

 private:
  using Time = std::chrono::nanoseconds;
  using RoughTime = std::chrono::duration<double, std::nano>;  ///< does not overflow

  /// How many have been taken and have not come back.
  [[nodiscard]] double missing(TimePoint now) const noexcept {
    if (interval_.count() == 0 || full_at_ <= now) return 0;
    return RoughTime(full_at_ - now) / RoughTime(interval_);
  }
  [[nodiscard]] Time longest_until_full() const noexcept {
    return ahead_ + interval_ + longest_debt;
  }

  Time interval_{};  ///< in which one comes back; zero: no limit
  Time ahead_{};     ///< how much later than now the bucket may be full when there is one in it
  TimePoint full_at_;
};

}  // namespace heistd
