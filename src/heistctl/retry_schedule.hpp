// RetrySchedule: when a request that got no answer, or that of a busy server, is made again.
#pragma once

#include <chrono>
#include <optional>

namespace heistctl {

class RetrySchedule {
 public:
  using Clock = std::chrono::steady_clock;

  RetrySchedule(Clock::time_point now, std::chrono::milliseconds most) : end_(now + most) {}

  /// How long to wait now, or nothing when it is too late then. A server may say for how long;
  /// otherwise each pause is twice the one before, up to two seconds.
  [[nodiscard]] std::optional<std::chrono::milliseconds> next(
      Clock::time_point now, std::optional<std::chrono::seconds> asked);

 private:
  Clock::time_point end_;
  std::chrono::milliseconds pause_{100};
};

}  // namespace heistctl
