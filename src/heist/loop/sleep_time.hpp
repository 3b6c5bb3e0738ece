// SleepTime: for how long an agent has slept, or had no thread.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

#include "../task/metric_clock.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   agent: begins and ends.  reader: any thread.
// Progress  wait-free. All is relaxed: it is a statistic, which guards no data, with one writer. (A
//         reader may miss the sleep that ends at the moment, for once.)
class SleepTime {
 public:
  explicit SleepTime(const MetricClock& clock) noexcept : clock_(clock) {}

  void begin() noexcept { since_.store(clock_.now(), sync::relaxed); }  // relaxed: see above.
  /// Does nothing when none has begun.
  void end() noexcept {
    const std::uint64_t total = all();
    since_.store(0, sync::relaxed);       // relaxed: see above.
    before_.store(total, sync::relaxed);  // relaxed: see above.
  }
  /// All of it up to now, in the clock's unit.   Thread: any.
  [[nodiscard]] std::uint64_t all() const noexcept {
    const std::uint64_t before = before_.load(sync::relaxed);  // relaxed: see above.
    const std::uint64_t since = since_.load(sync::relaxed);    // relaxed: see above.
    if (since == 0) return before;
    const std::uint64_t now = clock_.now();
    return before + (now > since ? now - since : 0);
  }

 private:
  const MetricClock& clock_;
  sync::atomic<std::uint64_t> since_{0};   ///< zero: it does not sleep
  sync::atomic<std::uint64_t> before_{0};  ///< the time of all sleeps that have ended
};

}  // namespace HEIST_NAMESPACE::detail
