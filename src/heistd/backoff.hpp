// Backoff: how long something waits before it is tried again.
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
  using Pause = std::chrono::milliseconds;

  /// That of jobs. With others the first one is doubled six times at most.
  /// Errors: std::exception when the system has no random numbers.
  explicit Backoff(Pause first = std::chrono::seconds(1), Pause most = std::chrono::minutes(1))
      : first_(first), most_(most), chance_(std::random_device()()) {}

  /// The pause after so many attempts, one at least.
  [[nodiscard]] Pause operator()(Attempt attempts) noexcept;

 private:
  const Pause first_;
  const Pause most_;
  std::minstd_rand chance_;
};

}  // namespace heistd
