// JobKeeper: what a journal is told of jobs, and how the network hears of its answers.
#pragma once

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <heist/asio/async_wait.hpp>
#include <heistd/job_run.hpp>
#include <heistd/journal/job_journal.hpp>
#include <optional>
#include <utility>

namespace heistd {

/// A job that an agent may begin.
struct OpenedJob {
  Attempt attempt;
  Blocks payload;
};

/// Tells a journal when attempts begin and how they end. What the journal cannot do now, as its
/// disk is full or the like, is tried again until it can: jobs that run go on meanwhile.
///
/// Thread: the network's.   Lifetime: longer than the network's handlers run.
class JobKeeper {
 public:
  using Network = boost::asio::io_context::executor_type;
  using Opened = std::function<void(std::optional<OpenedJob>)>;
  using Stored = std::function<void(JobJournal::Effect)>;
  using Released = std::function<void()>;
  /// What the journal has of a job; nothing when it has forgotten it.
  using Retold = std::function<void(const std::optional<StoredJob>&)>;

  /// `is_shared`: other servers have the same journal, so that only jobs start here that this one
  /// has claimed.
  JobKeeper(JobJournal& journal, const Network& network, bool is_shared = false) noexcept
      : journal_(journal), network_(network), is_shared_(is_shared) {}

  /// Is told of all ends that have ended followers, before who has asked for the end.
  void on_followers_aborted(std::function<void(const JobJournal::SharedFollowers&)> told) {
    on_followers_aborted_ = std::move(told);
  }

  [[nodiscard]] JobJournal& journal() const noexcept { return journal_; }
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }
  [[nodiscard]] const Network& network() const noexcept { return network_; }

  /// Calls `next` with the answer, on the network's thread.   Errors: std::bad_alloc.
  template <class T, class Next>
  void when(const heist::Promise<JournalResult<T>>& answer, Next next) {
    heist::async_wait(
        answer, boost::asio::bind_executor(
                    network_, [this, next = std::move(next)](const std::exception_ptr& error,
                                                             JournalResult<T> result) mutable {
                      // Nothing counts as done that the journal has not said.
                      if (error) result = JournalError{JournalFault::io_failed, "no answer"};
                      if (!result) failures_.note(result.error().fault);
                      tell(result);
                      next(std::move(result));
                    }));
  }

  /// Nobody waits for the answer, but a failure counts.   Errors: std::bad_alloc.
  template <class T>
  void watch(const heist::Promise<JournalResult<T>>& answer) {
    when(answer, [](const JournalResult<T>& /*counted*/) {});
  }

  /// A job that is to start, with an upload of so many bytes.
  struct Starting {
    JobId id;
    heist::TaskPriority priority;
    std::size_t bytes;
  };
  /// Counts an attempt of the job and reads its upload. Nothing is given when the job is not queued
  /// any more, or the keeper is closed.
  void open(Starting job, Opened opened);

  /// Tells how an attempt has ended; `stored` is called once the journal has it, or has said that
  /// it comes too late, as the job was aborted before.
  void end(const JobId& id, Attempt attempt, const JobOutcome& outcome, Stored stored);

  /// What has become of a job, and whether its attempt was the running one.
  using Retried = std::function<void(const std::optional<StoredJob>&, JobJournal::Effect)>;

  /// Tells how an attempt has ended that is to be followed by another one after a pause. `retried`
  /// hears once the journal has it whether the job is queued, or dead, or was aborted before; when
  /// it throws std::bad_alloc, it hears that again later.
  void retry(const JobId& id, Attempt attempt, const JobFailure& why,
             std::chrono::milliseconds pause, Retried retried);

  /// Reads what the journal has of a job; when `retold` throws std::bad_alloc, it hears that again
  /// later.
  void reread(const JobId& id, Retold retold);

  /// No job begins any more: what is being opened is released. Nothing is given for it then.
  void close() noexcept { is_closed_ = true; }
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

  /// Answers of the journal that were errors, those among them after which it is asked again.
  [[nodiscard]] const JournalFailures& failures() const noexcept { return failures_; }

  /// Jobs that are being opened, and ends whose answers are still to come; of aborts, those of
  /// which somebody is told.
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }

  /// The job was aborted; `retold` is as of reread(), or empty.   Errors: std::bad_alloc.
  void abort(const JobId& id, StoredError why, Retold retold = {});
  /// Queues a job again whose attempt is given up, as the server ends before it, or others are to
  /// run it. `released` is called once the journal has it, or has said that it comes too late; it
  /// throws nothing.   Errors: std::bad_alloc.
  void release(const JobId& id, Attempt attempt, Released released = {});

 private:
  template <class T>
  void tell(const JournalResult<T>& /*no end*/) const noexcept {}
  void tell(const JournalResult<JobJournal::Ended>& ended) const {
    if (ended && ended->followers && on_followers_aborted_) on_followers_aborted_(ended->followers);
  }

  JobJournal& journal_;
  Network network_;
  const bool is_shared_;
  std::function<void(const JobJournal::SharedFollowers&)> on_followers_aborted_;
  JournalFailures failures_;
  std::size_t under_way_ = 0;
  bool is_closed_ = false;
};

}  // namespace heistd
