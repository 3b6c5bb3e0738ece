// Backoff: how long a job waits before it is tried again.
#pragma once

#include <chrono>
#include <heistd/journal/job_record.hpp>
#include <random>

namespace heistd {

/// 1 s after the first attempt, then 2 s, 4 s and so on up to a minute, and up to as much again by
/// chance: jobs that ended together, as what all of them need is gone or one of them has ended the
/// process, shall not come again together.
class Backoff {
 public:
  /// Errors: std::exception when the system has no random numbers.
  Backoff() : chance_(std::random_device()()) {}

  /// The pause after so many attempts, one at least.
  [[nodiscard]] std::chrono::milliseconds operator()(Attempt attempts) noexcept;

 private:
  std::minstd_rand chance_;
};

}  // namespace heistd
