// JobProgress: what the network thread may look at while a job runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <heistd/job_counts.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace heistd {

/// What the network thread may look at while the job runs.
class JobProgress {
 public:
  explicit JobProgress(std::shared_ptr<JobCounts> counts) noexcept : counts_(std::move(counts)) {}

  /// An agent, once: how long the job had been runnable when its first chunk started.
  void start(std::chrono::nanoseconds queue_delay) noexcept {
    auto expected = waits;
    // relaxed, also below: the number itself is all that is passed on.
    if (queue_delay_.compare_exchange_strong(expected, queue_delay.count(),
                                             heist::detail::sync::relaxed,
                                             heist::detail::sync::relaxed)) {
      counts_->note_start();
    }
  }
  /// The network: the job has ended, and a start that comes now does not count. True when one came
  /// before.
  bool end() noexcept {
    auto expected = waits;
    return !queue_delay_.compare_exchange_strong(expected, never, heist::detail::sync::relaxed,
                                                 heist::detail::sync::relaxed);
  }
  /// Nothing before the first chunk.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> queue_delay() const noexcept {
    const auto count = queue_delay_.load(heist::detail::sync::relaxed);
    if (count < 0) return std::nullopt;
    return std::chrono::nanoseconds(count);
  }
  [[nodiscard]] JobCounts& counts() noexcept { return *counts_; }

 private:
  static constexpr std::int64_t waits = -1;
  static constexpr std::int64_t never = -2;

  const std::shared_ptr<JobCounts> counts_;
  heist::detail::sync::atomic<std::int64_t> queue_delay_{waits};
};

}  // namespace heistd
