// LoopTime: a loop's time in nanoseconds and in ticks, real or virtual.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/delay.hpp>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>
#include <optional>

#include "timer_wheel.hpp"

namespace HEIST_NAMESPACE::detail {

/// The clock of one loop or cluster. Any thread may read it. Only the driver of a virtual clock
/// advances it.
class LoopTime {
 public:
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::chrono::nanoseconds;

  LoopTime(LoopClock clock, Nanoseconds tick) noexcept
      : tick_(tick), is_virtual_(clock == LoopClock::virtual_time), origin_(Clock::now()) {}

  [[nodiscard]] bool is_virtual() const noexcept { return is_virtual_; }

  /// The time since the loop was made.   Cost: one read of the clock.
  [[nodiscard]] Nanoseconds now() const noexcept {
    if (!is_virtual_) return Clock::now() - origin_;
    return Nanoseconds(virtual_now_.load(sync::relaxed));  // relaxed: a time, it guards no data.
  }

  /// The tick that began last.
  [[nodiscard]] Tick tick_now() const noexcept { return tick_at(now()); }
  [[nodiscard]] Tick tick_at(Nanoseconds time) const noexcept {
    return static_cast<Tick>(time.count() / tick_.count());
  }

  /// The nanosecond at which `delay`, counted from `start`, is over; no_tick if it is never over.
  [[nodiscard]] static Tick end_of(Delay delay, Nanoseconds start) noexcept {
    if (delay.is_never() || delay.value() > Nanoseconds::max() - start) return no_tick;
    return static_cast<Tick>((start + delay.value()).count());
  }
  /// The first tick that does not begin before that nanosecond. Ticks are rounded up, so that no
  /// delay ends early (DLY-1).
  [[nodiscard]] Tick tick_from(Tick nanosecond) const noexcept {
    if (nanosecond == no_tick) return no_tick;
    const auto length = static_cast<Tick>(tick_.count());
    return nanosecond / length + (nanosecond % length == 0 ? 0 : 1);
  }

  /// The start of a tick, on the loop's clock.
  [[nodiscard]] Nanoseconds start_of(Tick tick) const noexcept {
    const auto last = static_cast<Tick>(Nanoseconds::max() / tick_);
    if (tick > last) return Nanoseconds::max();
    return static_cast<std::int64_t>(tick) * tick_;
  }

  /// The start of a tick as a point of the steady clock, or nothing beyond that clock's range.
  [[nodiscard]] std::optional<Clock::time_point> steady_start_of(Tick tick) const noexcept {
    const auto start = start_of(tick);
    if (start > Nanoseconds::max() - origin_.time_since_epoch()) return std::nullopt;
    return origin_ + start;
  }

  /// Called by the driver of a virtual clock.
  void set_virtual(Nanoseconds now) noexcept {
    virtual_now_.store(now.count(), sync::relaxed);  // relaxed: as above.
  }

 private:
  Nanoseconds tick_;
  bool is_virtual_;
  Clock::time_point origin_;
  sync::atomic<std::int64_t> virtual_now_{0};
};

}  // namespace HEIST_NAMESPACE::detail
