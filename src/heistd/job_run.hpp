// JobRun: a job as its agents see it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_label.hpp>
#include <heistd/block_disposal.hpp>
#include <heistd/budget.hpp>
#include <heistd/first_start.hpp>
#include <heistd/job_progress.hpp>
#include <heistd/job_work.hpp>
#include <heistd/pause.hpp>
#include <heistd/runnable_jobs.hpp>
#include <heistd/signal_group.hpp>
#include <heistd/start_delays.hpp>
#include <memory>
#include <optional>
#include <variant>

namespace heistd {

using Clock = std::chrono::steady_clock;

/// What the chunks of a job took.
struct JobTimes {
  std::chrono::nanoseconds queue_delay{};  ///< from runnable to the first chunk
  std::chrono::nanoseconds run{};          ///< all chunks together
  std::chrono::nanoseconds longest{};      ///< the longest one
  std::uint64_t chunks = 0;
  bool chunked = true;  ///< false: a coroutine of the work's own has chunks that nobody counts
  heist::TaskPriority started_at{};  ///< priority at the first chunk

  /// Of a coroutine of the work's own, for which the job waited.
  void add_wait(std::chrono::nanoseconds took) noexcept {
    run += took;
    chunked = false;
  }
};

/// Memory ran out while the job ran.
struct OutOfMemory {};

class JobRun;

/// The job may not start now. Once it may, its run is posted again.
struct HeldBack {
  std::shared_ptr<JobRun> run;
};

/// How a job ended. Empty when it was given up, as it was aborted.
using JobOutcome = std::variant<std::monostate, std::shared_ptr<const JobResult>, JobFailure,
                                OutOfMemory, HeldBack>;

/// The last word of the agents on a job. It is moved all the way: a result has one owner.
struct JobEnd {
  JobEnd() = default;
  JobEnd(const JobTimes& its_times, JobOutcome its_outcome,
         std::optional<RunnableJobs::Share> its_share = {}) noexcept
      : times(its_times), outcome(std::move(its_outcome)), runnable(std::move(its_share)) {}
  JobEnd(JobEnd&&) noexcept = default;
  JobEnd& operator=(JobEnd&&) noexcept = default;
  ~JobEnd() = default;

  JobTimes times;
  JobOutcome outcome;
  /// Given back once the end is known, and with it which jobs follow.
  std::optional<RunnableJobs::Share> runnable;
};

/// What a job waits for before its first chunk, when a journal is to count that it starts.
struct StartGate {
  heist::Resolver<void> ask;  ///< by the agent
  /// Null when the job is not to run any more.
  heist::Promise<std::unique_ptr<JobWork>> work;
};

/// Tells that a job gives back its place among those that run: when it has run or is held back, or
/// waits for something of its own unless it `stays`.
struct JobLeave {
  heist::Resolver<void> leave;
  bool stays = false;
};

/// Lets a job pass its gate. When it goes without having done so, the job is not to run any more.
struct GateOpener {
  explicit GateOpener(heist::Resolver<std::unique_ptr<JobWork>> its_work) noexcept
      : work(std::move(its_work)) {}
  GateOpener(const GateOpener&) = delete;
  GateOpener& operator=(const GateOpener&) = delete;
  ~GateOpener() { work.resolve(nullptr); }  // which does nothing if it is resolved

  heist::Resolver<std::unique_ptr<JobWork>> work;
};

/// What it takes to run a job.
struct JobStart {
  heist::TaskLabel label;  ///< what traces and dumps call it
  std::unique_ptr<JobWork> work;
  Budget::Ticket ticket;
  heist::TaskSignal signal;                  ///< of this job alone, and of its priority
  std::shared_ptr<const SignalGroup> group;  ///< of the signal name it was posted under, or null
  std::chrono::milliseconds delay{};         ///< up to runnable_at
  Clock::time_point runnable_at;
  std::shared_ptr<JobProgress> progress;
  std::shared_ptr<RunnableJobs> runnable;
  std::shared_ptr<const Pause> kind_pause;
  std::shared_ptr<std::array<StartDelays, 3>> start_delays;  ///< by priority
  std::optional<heist::Resolver<void>> started = {};         ///< by the agent, at the first chunk
  std::optional<StartGate> gate = {};                        ///< then the work comes through this
  std::shared_ptr<FirstStart> first = {};  ///< or the agent counts the start itself
  std::optional<JobLeave> place = {};
};

/// Runs one job: a task whose coroutine yields between chunks, with the job's signal and priority.
///
/// Owned by that task until the coroutine has ended, so it goes when an abort or a close ends that;
/// on an agent (ABT-4), so that what it frees costs the network nothing.
/// Thread: one agent after another runs its chunks.
class JobRun : public std::enable_shared_from_this<JobRun> {
 public:
  JobRun(JobStart start, heist::Scheduler scheduler);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;
  ~JobRun() { drop_work(); }

  /// Posts the task, also again when it was held back. What it gives is rejected when the job never
  /// starts or is aborted between two chunks; with std::bad_alloc when there was no memory to start
  /// it.
  ///
  /// Thread: any.   Errors: std::bad_alloc.
  [[nodiscard]] heist::Promise<JobEnd> post_first();

 private:
  heist::Promise<JobEnd> run();
  heist::Promise<void> pass_gate();
  [[nodiscard]] bool given_up() const noexcept {
    return start_.signal.aborted() || (start_.group && start_.group->deleted());
  }
  [[nodiscard]] bool is_paused() const noexcept {
    return start_.kind_pause->is_on() || (start_.group && start_.group->pause.is_on());
  }
  [[nodiscard]] JobEnd hold_back() noexcept;
  void leave() noexcept;
  [[nodiscard]] BlockDisposal disposal() const noexcept { return BlockDisposal(scheduler_); }
  /// Tasks free what is left of the upload, which the budget counts until then.
  void drop_work() noexcept;
  /// How the job ended, when it was the last.
  std::optional<JobOutcome> next_chunk();
  void note_start(Clock::time_point now) noexcept;
  void note_runnable() noexcept {
    if (!runnable_) runnable_.emplace(start_.runnable);
  }
  std::optional<JobOutcome> try_chunk();
  [[nodiscard]] std::shared_ptr<const JobResult> take_result();
  [[nodiscard]] JobEnd end(JobOutcome outcome) noexcept;

  JobStart start_;
  heist::Scheduler scheduler_;
  JobTimes times_;
  /// Until the job has ended; of a delayed job, from its first step.
  std::optional<RunnableJobs::Share> runnable_;
};

}  // namespace heistd
