// CloseTerms: how long something that closes goes on, and what it waits for.
#pragma once

#include <chrono>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

// Roles   closer: any thread that asks for a close.  drainer: whoever runs what is left, or waits
//         for its end; it reads the terms.
// I1      Whoever asks, the terms only get stricter: from a drain to a drain until a time, then to
//         an earlier time, then to an abort, which leaves no time at all. Delayed tasks are waited
//         for only as long as everybody who asks wants that.
// Order   All accesses are relaxed, because a closer wakes the drainer afterwards, by a message or
//         a word, and that carries the terms.
// Progress  lock-free.   Proof  stress/model/models/closing.cpp
class CloseTerms {
 public:
  using Clock = std::chrono::steady_clock;

  void tighten(const CloseMode& mode) noexcept {
    const auto until = time_of(mode);
    auto old = until_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    // relaxed, both: see Order.
    while (until < old && !until_.compare_exchange_weak(old, until, sync::relaxed, sync::relaxed)) {
    }
    if (!mode.wait_for_delayed)
      waits_for_delayed_.store(false, sync::relaxed);  // relaxed: as above.
  }
  /// Whether nothing more may start.
  [[nodiscard]] bool are_over() const noexcept {
    const auto until = until_.load(sync::relaxed);  // relaxed: see Order.
    if (until == never) return false;
    return until == at_once || Clock::now().time_since_epoch().count() >= until;
  }
  [[nodiscard]] std::optional<Clock::time_point> deadline() const noexcept {
    const auto until = until_.load(sync::relaxed);  // relaxed: see Order.
    if (until == never) return std::nullopt;
    return Clock::time_point(Clock::duration(until));
  }
  [[nodiscard]] bool wait_for_delayed() const noexcept {
    return waits_for_delayed_.load(sync::relaxed);  // relaxed: see Order.
  }
  [[nodiscard]] bool has_told() const noexcept {
    return has_told_.load(sync::relaxed);  // relaxed: carries nothing.
  }
  /// Returns true for the first caller only.
  [[nodiscard]] bool may_tell() noexcept {
    return !has_told_.exchange(true, sync::relaxed);  // relaxed: carries nothing.
  }

 private:
  using Time = Clock::rep;
  static constexpr Time never = Clock::time_point::max().time_since_epoch().count();
  static constexpr Time at_once = Clock::time_point::min().time_since_epoch().count();

  static Time time_of(const CloseMode& mode) noexcept {
    if (mode.kind == CloseMode::Kind::abort) return at_once;
    return mode.deadline ? mode.deadline->time_since_epoch().count() : never;
  }

  sync::atomic<Time> until_{never};
  sync::atomic<bool> waits_for_delayed_{true};
  sync::atomic<bool> has_told_{false};
};

}  // namespace HEIST_NAMESPACE::detail
