// Delay: a duration that cannot overflow.
#pragma once

#include <heist/detail/durations.hpp>
#include <heist/version.hpp>
#include <limits>

namespace HEIST_NAMESPACE {

/// How long to wait before a task becomes runnable. Negative (and NaN) is zero; a duration beyond
/// the clock's range is `Delay::never()`: the task never runs, but aborts as any other (contract
/// DLY-3).
class Delay {
  /// Far below the clock's end, so that now + delay cannot overflow either.
  static constexpr std::chrono::nanoseconds limit{std::numeric_limits<std::int64_t>::max() / 2};

  template <class Rep, class Period>
  static constexpr std::chrono::nanoseconds saturate(
      std::chrono::duration<Rep, Period> duration) noexcept {
    using Seconds = std::chrono::duration<long double>;
    const Seconds seconds(duration);
    if (!(seconds > Seconds::zero())) return {};
    if (seconds >= Seconds(limit)) return std::chrono::nanoseconds::max();
    return std::chrono::ceil<std::chrono::nanoseconds>(duration);
  }

 public:
  /// None.
  constexpr Delay() noexcept = default;

  /// This long, as `.delay = 5ms`.
  template <class Rep, class Period>
  // NOLINTNEXTLINE(google-explicit-constructor): `.delay = 5ms` is the point.
  constexpr Delay(std::chrono::duration<Rep, Period> duration) noexcept
      : value_(saturate(duration)) {}

  /// Longer than any other.
  [[nodiscard]] static constexpr Delay never() noexcept {
    return Delay(std::chrono::nanoseconds::max());
  }

  /// How long it is; the longest duration for never().
  [[nodiscard]] constexpr std::chrono::nanoseconds value() const noexcept { return value_; }
  /// Whether there is none, or no end.
  [[nodiscard]] constexpr bool is_zero() const noexcept { return value_.count() == 0; }
  [[nodiscard]] constexpr bool is_never() const noexcept {
    return value_ == std::chrono::nanoseconds::max();
  }

 private:
  std::chrono::nanoseconds value_{};
};

}  // namespace HEIST_NAMESPACE
