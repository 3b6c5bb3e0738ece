// SpinRule: how long a thread that waits looks for what it waits for before it sleeps.
#pragma once

#include <algorithm>
#include <chrono>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The rule of one thread. It looks only where waits are frequent, because a look is in vain where
/// they are rare (docs/adr/0038).
///
/// Thread: one.
class SpinRule {
 public:
  using Clock = std::chrono::steady_clock;

  /// `spin` is how long it looks; zero: never.
  explicit constexpr SpinRule(std::chrono::nanoseconds spin) noexcept : spin_(spin) {}

  /// Makes the looks of a thread that has something else to serve meanwhile shorter.
  void shorten_to(std::chrono::nanoseconds most) noexcept { spin_ = std::min(spin_, most); }
  [[nodiscard]] bool spins() const noexcept { return spin_ > spin_.zero(); }
  /// Begins a wait. Returns how long to look. That is zero if the last wait began long ago.
  [[nodiscard]] std::chrono::nanoseconds begin_wait(Clock::time_point now) noexcept {
    const bool is_rare = now - std::exchange(last_wait_, now) > rare * spin_;
    return is_rare ? spin_.zero() : spin_;
  }

 private:
  /// Waits are rare if they begin more than so many spins apart.
  static constexpr int rare = 10;

  std::chrono::nanoseconds spin_;
  Clock::time_point last_wait_{};
};

}  // namespace HEIST_NAMESPACE::detail
