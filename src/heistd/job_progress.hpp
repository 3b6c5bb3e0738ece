// JobProgress: what the network thread may look at while a job runs.
#pragma once

#include <algorithm>
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
  /// The network, once a run of the job is over: it waits for another one.
  void wait_again() noexcept {
    queue_delay_.store(waits, heist::detail::sync::relaxed);
    part_done_.store(waits, heist::detail::sync::relaxed);
  }
  /// Nothing before the first chunk.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> queue_delay() const noexcept {
    const auto count = queue_delay_.load(heist::detail::sync::relaxed);
    if (count < 0) return std::nullopt;
    return std::chrono::nanoseconds(count);
  }

  /// An agent: which part is done, from 0 to 1; what is beyond counts as the nearest of them.
  void report(double part) noexcept {
    part_done_.store(part > 0 ? std::min(part, 1.0) : 0.0, heist::detail::sync::relaxed);
  }
  /// Nothing when none was reported.
  [[nodiscard]] std::optional<double> part_done() const noexcept {
    const auto part = part_done_.load(heist::detail::sync::relaxed);
    return part < 0 ? std::nullopt : std::optional(part);
  }

  [[nodiscard]] JobCounts& counts() noexcept { return *counts_; }

 private:
  static constexpr std::int64_t waits = -1;
  static constexpr std::int64_t never = -2;

  const std::shared_ptr<JobCounts> counts_;
  heist::detail::sync::atomic<std::int64_t> queue_delay_{waits};
  heist::detail::sync::atomic<double> part_done_{waits};
};

}  // namespace heistd
