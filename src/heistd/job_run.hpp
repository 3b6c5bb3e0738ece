// JobRun: a job as its agents see it.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <heist/scheduler.hpp>
#include <heistd/block_disposal.hpp>
#include <heistd/budget.hpp>
#include <heistd/job_counts.hpp>
#include <heistd/job_id.hpp>
#include <heistd/job_work.hpp>
#include <heistd/mail.hpp>
#include <heistd/signal_group.hpp>
#include <memory>
#include <optional>
#include <variant>

namespace heistd {

class Client;
using Clock = std::chrono::steady_clock;

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

/// What the chunks of a job took.
struct JobTimes {
  std::chrono::nanoseconds queue_delay{};  ///< from runnable to the first chunk
  std::chrono::nanoseconds run{};          ///< all chunks together
  std::chrono::nanoseconds longest{};      ///< the longest one
  std::uint64_t chunks = 0;
  heist::TaskPriority started_at{};  ///< priority at the first chunk
};

/// Memory ran out while the job ran.
struct OutOfMemory {};

/// How a job ended. Empty when it was given up, as it was aborted.
using JobOutcome =
    std::variant<std::monostate, std::shared_ptr<const JobResult>, JobFailure, OutOfMemory>;

/// The last word of the agents on a job. Made with the job, so that there is memory for it.
class JobEnd : public Letter {
 public:
  JobEnd(Client& its_client, JobId its_id) noexcept : client(&its_client), id(std::move(its_id)) {}

  Client* const client;
  const JobId id;
  JobTimes times;
  JobOutcome outcome;
};

/// What it takes to run a job.
struct JobStart {
  std::unique_ptr<JobEnd> end;
  std::unique_ptr<JobWork> work;
  Budget::Ticket ticket;
  heist::TaskSignal signal;                     ///< of this job alone
  std::shared_ptr<const SignalGroup> group;     ///< of the signal name it was posted under, or null
  std::optional<heist::TaskPriority> priority;  ///< empty: the signal's
  std::chrono::milliseconds delay{};
  std::shared_ptr<JobProgress> progress;
};

/// Runs one job: a task whose coroutine yields between chunks, with the job's signal and priority.
///
/// Owned by that task until the coroutine has ended, so it goes when an abort or a close ends that;
/// on an agent (ABT-4), so that what it frees costs the network nothing.
/// Thread: one agent after another runs its chunks.
class JobRun : public std::enable_shared_from_this<JobRun> {
 public:
  /// `mail` hears of the end of each job that started, and of no other.
  JobRun(JobStart start, heist::Scheduler scheduler, Mail& mail);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;
  ~JobRun() { drop_work(); }

  /// Posts the task; false when the loop is closed.   Thread: any.   Errors: std::bad_alloc.
  bool post_first();

  [[nodiscard]] Clock::time_point runnable_at() const noexcept { return runnable_at_; }

 private:
  heist::Promise<void> start_run();
  heist::Promise<void> run();
  [[nodiscard]] bool given_up() const noexcept {
    return start_.signal.aborted() || (start_.group && start_.group->deleted());
  }
  [[nodiscard]] BlockDisposal disposal() const noexcept { return BlockDisposal(scheduler_); }
  /// Tasks free what is left of the upload, which the budget counts until then.
  void drop_work() noexcept;
  /// How the job ended, when it was the last.
  std::optional<JobOutcome> next_chunk();
  void note_start(Clock::time_point now) noexcept;
  std::optional<JobOutcome> try_chunk();
  [[nodiscard]] std::shared_ptr<const JobResult> take_result();
  void end(JobOutcome outcome) noexcept;

  JobStart start_;
  heist::Scheduler scheduler_;
  Mail& mail_;
  const Clock::time_point runnable_at_;
  JobTimes times_;
  heist::detail::sync::atomic<bool> ended_{false};
};

}  // namespace heistd
