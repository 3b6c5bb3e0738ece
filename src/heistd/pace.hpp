// Pace: how long a body may take on its way.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heistd/job_run.hpp>
#include <heistd/limits.hpp>

namespace heistd {

/// The deadlines of a body that has begun to come, or to go: it may not stand still for longer than
/// the idle timeout, nor be further behind the minimum rate than that.
class Pace {
 public:
  /// `last`: when all of it must have gone.
  Pace(const Limits& limits, Clock::time_point start,
       Clock::time_point last = Clock::time_point::max()) noexcept
      : limits_(limits), start_(start), last_(last) {}

  /// The server itself has kept the body waiting for so long, which the client is not to make up
  /// for.
  void excuse(Clock::duration waited) noexcept { start_ += waited; }
  /// When the next byte must have gone, `bytes` having gone by `now`.
  [[nodiscard]] Clock::time_point deadline(Clock::time_point now, std::uint64_t bytes) const {
    return std::min({now + limits_.idle_timeout, rate_deadline(bytes), last_});
  }

 private:
  [[nodiscard]] Clock::time_point rate_deadline(std::uint64_t bytes) const {
    const auto due = std::min<std::uint64_t>(bytes * 1000 / limits_.min_rate, longest.count());
    return start_ + limits_.idle_timeout + std::chrono::milliseconds(due);
  }

  static constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 365);
  const Limits& limits_;
  Clock::time_point start_;  ///< and the time that was excused
  const Clock::time_point last_;
};

}  // namespace heistd
