// CloseTerms: until when, and for what, something that closes goes on.
#pragma once

#include <chrono>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

// Roles   closer: any thread; asks.  drainer: whoever runs what is left, or waits for its end;
//         reads.
// I1      Whoever asks, they only get stricter: a drain, a drain until a time, an earlier time,
//         abort (no time at all); delayed tasks are waited for as long as all ask for it.
// Order   relaxed throughout: an asker wakes the drainer afterwards, by a message or a word, which
//         carries them.
// Progress  lock-free.   Proof  stress/model/models/closing.cpp
class CloseTerms {
 public:
  using Clock = std::chrono::steady_clock;

  void tighten(const CloseMode& mode) noexcept {
    const auto until = time_of(mode);
    auto old = until_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    // relaxed, all: see Order.
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
