// JobRun: a job as its agents see it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <heist/scheduler.hpp>
#include <heist/sync.hpp>
#include <heistd/budget.hpp>
#include <heistd/job_id.hpp>
#include <heistd/job_work.hpp>
#include <memory>
#include <optional>
#include <variant>

namespace heistd {

class Client;
using Clock = std::chrono::steady_clock;

/// What the network thread may look at while the job runs.
class JobProgress {
 public:
  /// An agent, once: how long the job had been runnable when its first chunk started.
  void start(std::chrono::nanoseconds queue_delay) noexcept {
    // relaxed, also below: the number itself is all that is passed on.
    queue_delay_.store(queue_delay.count(), heist::sync::relaxed);
  }
  /// Nothing before the first chunk.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> queue_delay() const noexcept {
    const auto count = queue_delay_.load(heist::sync::relaxed);
    if (count < 0) return std::nullopt;
    return std::chrono::nanoseconds(count);
  }

 private:
  heist::sync::atomic<std::int64_t> queue_delay_{-1};
};

/// What the chunks of a job took.
struct JobTimes {
  std::chrono::nanoseconds queue_delay{};  ///< from runnable to the first chunk
  std::chrono::nanoseconds run{};          ///< all chunks together
  std::chrono::nanoseconds longest{};      ///< the longest one
  std::uint64_t chunks = 0;
  heist::TaskPriority started_at{};  ///< priority at the first chunk
};

/// How a job ended. Empty when it was given up, as it was aborted.
using JobOutcome = std::variant<std::monostate, JobResult, JobFailure>;

/// The last word of the agents on a job.
struct JobEnd {
  Client* client = nullptr;
  JobId id;
  JobTimes times;
  JobOutcome outcome;
};

/// What it takes to run a job.
struct JobStart {
  Client* client = nullptr;
  JobId id;
  std::unique_ptr<JobWork> work;
  Budget::Ticket ticket;
  heist::AbortSignal own_signal;           ///< of this job alone
  std::optional<heist::TaskSignal> group;  ///< of the signal name it was posted under
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
  /// Hears of the end of each job that started; called on an agent.
  using EndSink = std::function<void(JobEnd)>;

  JobRun(JobStart start, heist::Scheduler scheduler, const EndSink& on_end);

  /// Posts the task; false when the loop is closed or the signal aborted.   Thread: any.
  bool post_first();

  [[nodiscard]] Clock::time_point runnable_at() const noexcept { return runnable_at_; }

  /// Frees what the aborted job holds, before its task would come up. If a chunk runs, that one's end does it.
  void discard() noexcept;

 private:
  heist::Promise<void> run();
  [[nodiscard]] bool take_work() noexcept {
    return !work_taken_.exchange(true, heist::sync::edge("work:take", heist::sync::acq_rel));
  }
  void return_work() noexcept {
    work_taken_.exchange(false, heist::sync::edge("work:take", heist::sync::acq_rel));
  }
  /// One chunk; how the job ended, when it was the last.
  std::optional<JobOutcome> work_on();
  std::optional<JobOutcome> next_chunk();
  void note_start(Clock::time_point now) noexcept;
  void end(JobOutcome outcome);

  JobStart start_;
  heist::Scheduler scheduler_;
  const EndSink& on_end_;
  const Clock::time_point runnable_at_;
  JobTimes times_;
  heist::sync::atomic<bool> work_taken_{false};
};

}  // namespace heistd
