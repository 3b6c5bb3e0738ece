// MetricClock: the time of metrics, in a unit that is cheap to read.
#pragma once

#include <cstdint>
#include <heist/detail/cycle_rate.hpp>

#include "loop_clock.hpp"

namespace HEIST_NAMESPACE::detail {

/// Times for statistics. The unit is one count of the processor's counter where that goes at a
/// constant rate, and otherwise a nanosecond. How long the counter's unit lasts is only known
/// afterwards, from all the time that has passed, and then exactly. So all clocks that are real
/// give the same time, and a virtual one gives its own.
///
/// Thread: any.
class MetricClock {
 public:
  explicit MetricClock(const LoopTime& time) noexcept
      : time_(time),
        counts_cycles_(!time.is_virtual() && has_constant_rate()),
        first_time_(time.now()),
        first_count_(now()) {}

  /// Never zero.   Cost: some 10 ns.
  [[nodiscard]] std::uint64_t now() const noexcept {
    if (counts_cycles_) return cycle_count();
    const auto now = time_.is_virtual() ? time_.now() : LoopTime::Clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(now.count()) + 1;
  }
  /// The same as a time of events; zero, which means now, where these have another unit.
  [[nodiscard]] std::uint64_t time_of_event(std::uint64_t now) const noexcept {
    return counts_cycles_ ? now : 0;
  }
  /// How long a unit lasts, by what has passed since the clock was made.
  [[nodiscard]] double nanoseconds_of_unit() const noexcept {
    if (!counts_cycles_) return 1;
    const auto passed = static_cast<double>((time_.now() - first_time_).count());
    const auto counted = static_cast<double>(now() - first_count_);
    return counted > 0 ? passed / counted : 1;
  }

 private:
  const LoopTime& time_;
  const bool counts_cycles_;
  const LoopTime::Nanoseconds first_time_;
  const std::uint64_t first_count_;
};

}  // namespace HEIST_NAMESPACE::detail
