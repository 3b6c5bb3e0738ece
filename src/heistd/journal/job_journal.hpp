// JobJournal: which jobs were accepted, and what became of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/histogram.hpp>
#include <heist/promise.hpp>
#include <heistd/job_query.hpp>
#include <heistd/journal/job_record.hpp>
#include <heistd/journal/journal_error.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heistd {

/// Where the truth about accepted jobs is. What a journal has answered stays true, as far as its
/// implementation promises that: for one in memory until the process ends, for one on disk across
/// `kill -9` and loss of power.
///
/// A job is `queued` when it is accepted. `start` makes it `running` and counts an attempt;
/// `complete`, `fail` and `release` end that attempt and name its number, so that the word of an
/// earlier one, which comes late, changes nothing. `abort` ends a job whatever it is at. `reclaim`
/// makes up for attempts whose server has gone.
///
/// A job that follows an unfinished one does not start before that one is done. If it ends in any
/// other way, the job is aborted, and so are those that follow it: all of that is a part of the
/// request that has ended the first one.   Cost: a step for each of them.
///
/// A request takes effect as a whole or, with an error, not at all. Requests take effect in the
/// order of their calls, but for `start`, `find`, loads, `list`, `signals`, `pauses` and reads,
/// which see at least what has been answered before.
///
/// Thread:   the network's.   Blocks: never, but for construction and destruction. The promise of
///           an answer settles on a thread of the journal's; `heist::async_wait` brings it to an
///           executor.
/// Errors:   std::bad_alloc from the calls themselves; nothing was asked for then.
/// Lifetime: a destructor first does all that was asked for.
class JobJournal {
 public:
  template <class T>
  using Answer = heist::Promise<JournalResult<T>>;

  JobJournal() = default;
  JobJournal(const JobJournal&) = delete;
  JobJournal& operator=(const JobJournal&) = delete;
  virtual ~JobJournal() = default;

  enum class Acceptance : std::uint8_t {
    accepted,
    repeated,            ///< the client's key stands for a job that came of the same request
    conflicting,         ///< the client's key stands for another request
    no_predecessor,      ///< the client has no job that this one could follow
    predecessor_failed,  ///< it has ended without success
  };
  struct Submitted {
    Acceptance acceptance = Acceptance::accepted;
    JobId id;              ///< of the job that the key stands for, else of the new one
    bool follows = false;  ///< the new one has a predecessor that has not ended yet
  };
  /// Accepts a job, unless its key stands for one already, or its predecessor cannot be done any
  /// more. A key stands for its job for `idempotency_life`, and no longer than until the job is
  /// aborted or dead.
  [[nodiscard]] virtual Answer<Submitted> submit(NewJob job) = 0;
  /// The same for many jobs, in their order: all of that is stored, or, with an error, nothing.
  [[nodiscard]] virtual Answer<std::vector<Submitted>> submit_all(std::vector<NewJob> jobs) = 0;

  struct Started {
    Attempt attempt;
    std::string block;  ///< the first bytes of the payload, so that mostly nothing else is read
  };
  /// Counts an attempt of a queued job; nothing when the job is not queued, or follows one that has
  /// not ended yet. The count outlives the process, though not the machine. Starts of more urgent
  /// jobs may come first; those of one priority take effect in the order of their calls.
  [[nodiscard]] virtual Answer<std::optional<Started>> start(JobId id,
                                                             heist::TaskPriority priority) = 0;

  /// The first attempt of a job that was accepted a moment ago, to be counted by whoever runs it.
  ///
  /// Thread: any, one at a time.   Lifetime: within the journal's.
  class FirstAttempt {
   public:
    FirstAttempt() = default;
    FirstAttempt(const FirstAttempt&) = delete;
    FirstAttempt& operator=(const FirstAttempt&) = delete;
    virtual ~FirstAttempt() = default;

    /// Its number is 1, and what is said of `start` holds.
    ///
    /// Blocks: for a write into the system's memory.   Errors: std::exception; not counted then.
    virtual void count() = 0;
    /// Undoes count(), as nothing has run.   Errors: none; it may count all the same after a kill.
    virtual void take_back() noexcept = 0;
  };
  struct FirstStarted {
    std::string upload;
    std::unique_ptr<FirstAttempt> attempt;
  };
  /// Gives the first start of a queued job away, if that can be had at once: nobody else starts it
  /// then, unless it is not counted. Nothing for a journal that has no such starts.
  ///
  /// Errors: std::bad_alloc; nothing was given away then.
  [[nodiscard]] virtual std::optional<FirstStarted> take_first_start(const JobId& /*id*/) {
    return std::nullopt;
  }

  enum class Effect : std::uint8_t {
    stored,
    /// The job is not, or no longer, at what the request supposes; nothing was changed.
    late,
  };
  /// Jobs that were aborted since they followed one that has ended, or one of these.
  struct AbortedFollowers {
    std::string client;  ///< whose they are
    std::vector<JobId> ids;
  };
  using SharedFollowers = std::shared_ptr<const AbortedFollowers>;
  /// What a request has done that ends a job. A copy takes no memory: who waits for the answer gets
  /// one, and without it would ask again, and hear that this comes too late.
  struct Ended {
    Ended(Effect its_effect = Effect::stored) noexcept : effect(its_effect) {}
    explicit Ended(AbortedFollowers aborted)
        : effect(Effect::stored),
          followers(aborted.ids.empty()
                        ? nullptr
                        : std::make_shared<const AbortedFollowers>(std::move(aborted))) {}
    operator Effect() const noexcept { return effect; }

    Effect effect;
    SharedFollowers followers = {};  ///< null: none
  };
  /// Ends the attempt with a result, and with it the job.
  [[nodiscard]] virtual Answer<Ended> complete(JobId id, Attempt attempt, StoredResult result) = 0;

  /// Ends the attempt with an error. With `retry_after` the job is queued again, to start no
  /// earlier than that, or is dead if this was its last attempt; without, it has failed.
  [[nodiscard]] virtual Answer<Ended> fail(
      JobId id, Attempt attempt, StoredError error,
      std::optional<std::chrono::milliseconds> retry_after) = 0;

  /// Queues the job again, in its old place. The attempt does not count.
  [[nodiscard]] virtual Answer<Effect> release(JobId id, Attempt attempt) = 0;

  /// Ends an unfinished job, and keeps why.
  [[nodiscard]] virtual Answer<Ended> abort(JobId id, StoredError why) = 0;

  /// Gives an unfinished job that has a priority of its own another one.
  [[nodiscard]] virtual Answer<Effect> set_priority(JobId id, heist::TaskPriority priority) = 0;

  /// Queues a dead job again. The attempts that it has had do not count.
  [[nodiscard]] virtual Answer<Effect> requeue(JobId id) = 0;

  /// Forgets a finished job.
  [[nodiscard]] virtual Answer<Effect> purge(JobId id) = 0;

  struct Reclaimed {
    std::size_t queued = 0;
    std::size_t dead = 0;  ///< as that was their last attempt
  };
  /// How long a job waits for its next attempt, after so many.
  using Backoff = std::function<std::chrono::milliseconds(Attempt)>;
  /// Ends the attempts of all running jobs, as nobody is left who could: each job is queued again
  /// after what `backoff` says, or is dead if that was its last attempt.
  [[nodiscard]] virtual Answer<Reclaimed> reclaim(Backoff backoff) = 0;

  /// Gives a signal its priority, and so all its jobs that have none of their own; makes the signal
  /// if need be.   Cost: that of one record, whatever the number of jobs.
  [[nodiscard]] virtual Answer<Effect> set_signal(std::string client, std::string name,
                                                  heist::TaskPriority priority) = 0;

  /// Aborts the unfinished jobs of a signal and frees its name.   Cost: a step for each of them.
  [[nodiscard]] virtual Answer<Ended> drop_signal(std::string client, std::string name) = 0;

  /// Keeps whether something is paused. A signal that is is as one that was put, and is made with
  /// this priority if need be; when it is dropped, so is its pause.
  [[nodiscard]] virtual Answer<Effect> set_pause(StoredPause what, bool on,
                                                 heist::TaskPriority signal_priority) = 0;
  [[nodiscard]] virtual Answer<std::vector<StoredPause>> pauses() = 0;

  /// The signals that were put, or that unfinished jobs have.
  [[nodiscard]] virtual Answer<std::vector<StoredSignal>> signals() = 0;

  /// Nothing when there is no such job.
  [[nodiscard]] virtual Answer<std::optional<StoredJob>> find(JobId id) = 0;

  /// How many unfinished jobs there are.   Cost: a step for each.
  [[nodiscard]] virtual Answer<std::size_t> count_unfinished() = 0;
  /// The next unfinished jobs behind `after`, in the order of acceptance, `most` of them at the
  /// most; none when all have been given. From 0 on they come one part after the other.
  [[nodiscard]] virtual Answer<std::vector<StoredJob>> load_unfinished(AcceptanceOrder after,
                                                                       std::size_t most) = 0;

  /// Where a finished job stands among those of its client.
  struct EndPlace {
    SystemTime time = SystemTime::max();
    AcceptanceOrder order = last_order;

    static constexpr AcceptanceOrder last_order = std::numeric_limits<std::int64_t>::max();
  };
  /// The finished jobs of a client that have ended before that, the latest first, `most` of them
  /// at the most.   Cost: a step for each that is given, and for each that ended at that same time.
  [[nodiscard]] virtual Answer<std::vector<StoredJob>> load_ended(std::string client,
                                                                  EndPlace before,
                                                                  std::size_t most) = 0;

  /// A part of the list of a client's jobs.   Cost: that of `most_looked_at` jobs at the most, or
  /// dead ones where only those are asked for.
  [[nodiscard]] virtual Answer<JobPage<StoredJob>> list(std::string client, JobQuery query) = 0;

  /// The part of an unfinished or dead job's payload, or of a done one's result, that is there.
  [[nodiscard]] virtual Answer<std::string> read_payload(JobId id, ByteRange range) = 0;
  [[nodiscard]] virtual Answer<std::string> read_result(JobId id, ByteRange range) = 0;

  /// How many finished jobs, and how many keys, go at a time, so that a request ends soon.
  static constexpr std::size_t trimmed_at_a_time = 1000;
  /// Forgets finished jobs that are too old, or too many bytes, as each end of a job does, and keys
  /// whose time is over; says how many. When that is `trimmed_at_a_time`, there may be more.
  [[nodiscard]] virtual Answer<std::size_t> trim() { return Answer<std::size_t>::resolved(0U); }

  /// Ends of attempts that were no longer the current ones.   Thread: any.
  [[nodiscard]] virtual std::uint64_t late_ends() const noexcept = 0;

  /// Of a journal on a disk of this machine.
  struct Disk {
    heist::Histogram commit_time;             ///< how long it took until the disk had a transaction
    std::uint64_t bytes = 0;                  ///< of its files
    std::optional<std::uint64_t> free_bytes;  ///< that they may still grow by, if that is known
    /// Dead jobs that were forgotten since the start, as they were too old or too many bytes.
    std::uint64_t dropped_dead = 0;
  };
  /// Nothing for a journal that has none.   Thread: any.   Blocks: while sizes of files are read.
  /// Errors: std::bad_alloc.
  [[nodiscard]] virtual std::optional<Disk> disk() const { return std::nullopt; }
};

/// Tells a journal the time. Called on the network's thread.
using JournalClock = std::function<SystemTime()>;

[[nodiscard]] inline SystemTime system_time() {
  return std::chrono::floor<SystemTime::duration>(std::chrono::system_clock::now());
}

}  // namespace heistd
