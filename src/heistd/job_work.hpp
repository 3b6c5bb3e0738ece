// JobWork: the work of one job, done in chunks.
#pragma once

#include <chrono>
#include <heist/promise.hpp>
#include <heist/task_signal.hpp>
#include <heistd/blocks.hpp>
#include <heistd/job_failure.hpp>
#include <heistd/job_id.hpp>
#include <heistd/job_progress.hpp>
#include <heistd/job_result.hpp>
#include <heistd/journal/job_record.hpp>
#include <heistd/parameter.hpp>
#include <memory>
#include <optional>

namespace heistd {

struct Kind;

/// What the work of one job is made of.
struct JobInput {
  const Kind& kind;  ///< of a KindTable
  Blocks body;
  const Parameters& parameters;
  heist::TaskSignal signal;  ///< of this job alone
  std::shared_ptr<JobProgress> progress;
  JobId id;
  Attempt attempt;
};

/// The work of one job. Made anywhere, then used by one thread at a time.
///
/// Memory: each block of the upload is freed as soon as it is done with.
class JobWork {
 public:
  JobWork() = default;
  JobWork(const JobWork&) = delete;
  JobWork& operator=(const JobWork&) = delete;
  virtual ~JobWork() = default;

  /// Does the next chunk: one block at most, less where `budget` runs out and the work can stop.
  /// True once nothing is left.
  ///
  /// Cost: 5 ms at most (ADR 0027).   Errors: JobFailure, std::bad_alloc; the work is over then.
  virtual bool step(std::chrono::nanoseconds budget) = 0;

  /// What has to come before the next step; nothing when that may come as soon as more urgent work
  /// has had its turn. Settles however it ends.
  [[nodiscard]] virtual std::optional<heist::Promise<void>> pending() { return std::nullopt; }

  /// What the upload has left, so that somebody else may free it; nothing else may be called then.
  [[nodiscard]] virtual Blocks give_up_body() noexcept = 0;

  /// Precondition: step() returned true.
  [[nodiscard]] virtual JobResult take_result() = 0;
};

}  // namespace heistd
