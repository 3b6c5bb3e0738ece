// JobProgress: what the network thread may look at while a job runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>
#include <heistd/events/changed_jobs.hpp>
#include <heistd/job_counts.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace heistd {

/// What the network thread may look at while the job runs.
///
/// The pointer to the counts is the right to count a start there: the agent that starts the job
/// takes it, or the network does when the job ends first.
class JobProgress {
 public:
  explicit JobProgress(std::shared_ptr<JobCounts> counts) noexcept
      : owner_(std::move(counts)), counts_(owner_.get()), to_start_in_(counts_) {}

  /// The network, before the job is posted: where its start and its progress are noted.
  void note_changes_in(std::shared_ptr<ChangedJobs> changed, std::weak_ptr<const Job> job) {
    changed_ = std::move(changed);
    job_ = std::move(job);
  }

  /// An agent, once in each run: how long the job had been runnable when its first chunk started,
  /// and the priority that it has then.
  void start(std::chrono::nanoseconds queue_delay, heist::TaskPriority priority) noexcept {
    // relaxed, also below: counts are older than the job, and the numbers are all that is passed
    // on.
    auto* const counts = to_start_in_.exchange(nullptr, heist::detail::sync::relaxed);
    if (counts == nullptr) return;
    started_at_.store(priority, heist::detail::sync::relaxed);
    queue_delay_.store(queue_delay.count(), heist::detail::sync::relaxed);
    counts->note_start();
    note_change();
  }
  /// The network: the job has ended, and a start that comes now does not count. True when one came
  /// before.
  bool end() noexcept {
    return to_start_in_.exchange(nullptr, heist::detail::sync::relaxed) == nullptr;
  }
  /// The network: a start that comes from now on counts in others, which belong to what owns the
  /// counts of before. True when one came before, which those have or will have counted.
  bool count_in(JobCounts& counts) noexcept {
    auto* expected = std::exchange(counts_, &counts);
    return !to_start_in_.compare_exchange_strong(expected, &counts, heist::detail::sync::relaxed,
                                                 heist::detail::sync::relaxed);
  }
  /// The network, once a run of the job is over: it waits for another one.
  void wait_again() noexcept {
    to_start_in_.store(counts_, heist::detail::sync::relaxed);
    queue_delay_.store(waits, heist::detail::sync::relaxed);
    part_done_.store(waits, heist::detail::sync::relaxed);
  }
  /// Nothing before the first chunk.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> queue_delay() const noexcept {
    const auto count = queue_delay_.load(heist::detail::sync::relaxed);
    if (count < 0) return std::nullopt;
    return std::chrono::nanoseconds(count);
  }
  /// Precondition: the first chunk has started, and whoever asks has heard of that.
  [[nodiscard]] heist::TaskPriority started_at() const noexcept {
    return started_at_.load(heist::detail::sync::relaxed);
  }

  /// An agent: which part is done, from 0 to 1; what is beyond counts as the nearest of them.
  void report(double part) noexcept {
    part_done_.store(part > 0 ? std::min(part, 1.0) : 0.0, heist::detail::sync::relaxed);
    note_change();
  }
  /// Nothing when none was reported.
  [[nodiscard]] std::optional<double> part_done() const noexcept {
    const auto part = part_done_.load(heist::detail::sync::relaxed);
    return part < 0 ? std::nullopt : std::optional(part);
  }

  /// The network.
  [[nodiscard]] JobCounts& counts() noexcept { return *counts_; }

 private:
  static constexpr std::int64_t waits = -1;

  void note_change() noexcept {
    if (changed_ && changed_->is_heard()) changed_->note(job_, noted_in_);
  }

  const std::shared_ptr<JobCounts> owner_;
  JobCounts* counts_;                                    ///< the network's: where the job counts
  heist::detail::sync::atomic<JobCounts*> to_start_in_;  ///< null: taken
  heist::detail::sync::atomic<std::int64_t> queue_delay_{waits};
  heist::detail::sync::atomic<heist::TaskPriority> started_at_{};
  heist::detail::sync::atomic<double> part_done_{waits};
  std::shared_ptr<ChangedJobs> changed_;  ///< null: nobody is told
  std::weak_ptr<const Job> job_;
  ChangedJobs::Round noted_in_ = 0;
};

}  // namespace heistd
