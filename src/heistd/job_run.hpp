// JobRun: a job as its agents see it.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/scheduler.hpp>
#include <heist/sync.hpp>
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
    if (queue_delay_.compare_exchange_strong(expected, queue_delay.count(), heist::sync::relaxed,
                                             heist::sync::relaxed)) {
      counts_->note_start();
    }
  }
  /// The network: the job has ended, and a start that comes now does not count. True when one came before.
  bool end() noexcept {
    auto expected = waits;
    return !queue_delay_.compare_exchange_strong(expected, never, heist::sync::relaxed,
                                                 heist::sync::relaxed);
  }
  /// Nothing before the first chunk.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> queue_delay() const noexcept {
    const auto count = queue_delay_.load(heist::sync::relaxed);
    if (count < 0) return std::nullopt;
    return std::chrono::nanoseconds(count);
  }
  [[nodiscard]] JobCounts& counts() noexcept { return *counts_; }

 private:
  static constexpr std::int64_t waits = -1;
  static constexpr std::int64_t never = -2;

  const std::shared_ptr<JobCounts> counts_;
  heist::sync::atomic<std::int64_t> queue_delay_{waits};
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
  heist::AbortSignal own_signal;                  ///< of this job alone
  std::optional<heist::TaskSignal> group_signal;  ///< of the signal name it was posted under
  std::shared_ptr<const SignalGroup> group;
  std::optional<heist::TaskPriority> priority;
  std::chrono::milliseconds delay{};
  std::shared_ptr<JobProgress> progress;
};

/// Runs one job: a task whose coroutine yields between chunks, with the job's signal and priority.
///
/// Owned by that task until the coroutine has ended, so it goes when an abort or a close ends that.
/// Thread: one agent after another runs its chunks; discard() may come on another one meanwhile.
/// Edge work: take -> take. Of a chunk (or the end) and discard() the one that comes first has the work. A chunk that ends
/// behind a discard() sees the abort that led to it.
class JobRun : public std::enable_shared_from_this<JobRun> {
 public:
  /// `mail` hears of the end of each job that started, and of no other.
  JobRun(JobStart start, heist::Scheduler scheduler, Mail& mail);

  /// Posts the task; false when the loop is closed.   Thread: any.   Errors: std::bad_alloc.
  bool post_first();

  [[nodiscard]] Clock::time_point runnable_at() const noexcept { return runnable_at_; }

  /// Frees what the aborted job holds, before its task would come up. If a chunk runs, that one's end does it.
  void discard() noexcept;

 private:
  heist::Promise<void> start_run();
  heist::Promise<void> run();
  [[nodiscard]] bool given_up() const noexcept {
    return start_.own_signal.aborted() || (start_.group && start_.group->deleted());
  }
  [[nodiscard]] BlockDisposal disposal() const noexcept { return BlockDisposal(scheduler_); }
  [[nodiscard]] bool take_work() noexcept {
    return !work_taken_.exchange(true, heist::sync::edge("work:take", heist::sync::acq_rel));
  }
  /// Who has taken it: agents free the upload.
  void drop_work() noexcept;
  void return_work() noexcept {
    work_taken_.exchange(false, heist::sync::edge("work:take", heist::sync::acq_rel));
  }
  /// One chunk; how the job ended, when it was the last.
  std::optional<JobOutcome> work_on();
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
  heist::sync::atomic<bool> work_taken_{false};
  heist::sync::atomic<bool> ended_{false};
};

}  // namespace heistd
