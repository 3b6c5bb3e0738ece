// Job: a job as the network thread knows it.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/set.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/task_signal.hpp>
#include <heistd/job_counts.hpp>
#include <heistd/job_id.hpp>
#include <heistd/job_run.hpp>
#include <heistd/job_state.hpp>
#include <heistd/jobs_ahead.hpp>
#include <heistd/journal/job_record.hpp>
#include <heistd/kind.hpp>
#include <heistd/run_places.hpp>
#include <heistd/signal_group.hpp>
#include <heistd/waiting_jobs.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// How often a job was started, as its journal has counted that.
struct Attempts {
  Attempt latest = 0;    ///< the number of the latest one; none without a journal that lasts
  Attempt forgiven = 0;  ///< how many do not count any more
  Attempt most = 1;      ///< that may count

  [[nodiscard]] Attempt counted() const noexcept { return latest - forgiven; }
};

struct LinedUpJob;

/// What a client may see of its job.   Thread: the network's.
class Job {
 public:
  Job(JobId its_id, const Kind& its_kind, std::size_t its_bytes) noexcept
      : id(std::move(its_id)), kind(its_kind), bytes(its_bytes) {}

  const JobId id;
  const Kind& kind;
  const std::size_t bytes;
  std::string request_id;  ///< of the request that brought it
  std::string signal_name;
  std::optional<heist::TaskPriority> fixed_priority;  ///< its own; empty: the group's
  std::shared_ptr<SignalGroup> group;                 ///< of signal_name, or null
  std::shared_ptr<const Pause> kind_pause;            ///< of its client's; an unfinished job has it
  /// Its client's when it was posted: it runs no higher, whatever its priority.
  heist::TaskPriority ceiling = heist::TaskPriority::user_blocking;
  std::shared_ptr<JobProgress> progress;
  Clock::time_point runnable_at;
  std::optional<Clock::time_point> expires_at;       ///< unless it has been started by then
  std::optional<std::chrono::milliseconds> timeout;  ///< of each attempt
  JobId after;                                       ///< the job after which it starts; empty: none
  Attempts attempts;
  AcceptanceOrder order = 0;  ///< among its client's jobs; none when a journal has that

  /// What only an unfinished job has.
  struct Unfinished {
    explicit Unfinished(heist::TaskPriority priority) : controller(priority) {}

    std::optional<SignalGroup::Jobs::iterator> place_in_group;
    JobCounts::Place place_in_counts;
    bool counted = false;
    std::uint64_t run = 0;  ///< the number of the latest run on agents: earlier ones are over
    std::shared_ptr<FirstStart> first;  ///< of one that starts without the network, until it ends
    bool begun = false;  ///< the latest attempt: the journal has counted it, and not heard its end
    std::unique_ptr<const JobFailure> last_failure;  ///< of an earlier attempt, or null
    std::optional<Budget::Ticket> stored;            ///< of its upload, unless it waits
    std::optional<Budget::Ticket> memory;  ///< of one that is not posted yet, as somebody waits
    std::optional<JobLine::Share> posted;  ///< of a journal's job, until it starts
    std::shared_ptr<LinedUpJob> lined_up;  ///< of one that waits for its turn without a journal
    Blocks upload;                         ///< of one without a journal, until its turn comes
    std::optional<RunPlaces::Place> run_place;  ///< from when an agent has come to it
    std::shared_ptr<void> suspect_place;        ///< of a StartQueue, until the attempt has ended
    bool is_held_back = false;  ///< it has asked for its start, and may not start now
    std::optional<std::list<Job*>::iterator> place_at_once;  ///< of its client; it has a `first`
    std::optional<JobsAhead::Asking> asking;  ///< of one that no other may pass on the agents
    std::optional<JobsAhead::Held> held;      ///< the same, from when it was held until it starts
    Clock::time_point posted_at;  ///< from when on agents have it, be it after its delay
    /// When it was posted first, or got its priority: a pause that holds it back changes nothing.
    Clock::time_point turn;
    std::shared_ptr<JobRun> held_run;  ///< of one that is held: posted again, it starts
    std::function<void()> held_start;  ///< or what has it ask for its start once more
    /// What the latest run says of its end does not count any more: the journal is told of another
    /// one, or of that.
    bool is_told = false;
    bool is_given_up = false;  ///< its abort is on its way to the journal; it starts no more
    heist::TaskController controller;  ///< of this job alone
    /// For the job to expire, and once it runs for its timeout.
    std::unique_ptr<boost::asio::steady_timer> timer;
  };
  std::unique_ptr<Unfinished> unfinished;  ///< null once it has ended

  using PlaceInHeld =
      boost::intrusive::set_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  PlaceInHeld place_in_held;  ///< among those of its client that may not start now

  /// Called when the job has finished; by those who wait for it.
  std::list<std::function<void()>> on_finished;

  [[nodiscard]] heist::TaskPriority priority() const noexcept {
    return fixed_priority ? *fixed_priority : group->priority();
  }
  [[nodiscard]] JobState state() const noexcept;
  /// Whether its latest attempt runs, as far as a journal or an agent has said so.
  [[nodiscard]] bool has_started() const noexcept {
    if (!unfinished) return progress->queue_delay().has_value();
    return unfinished->begun || (unfinished->first && unfinished->first->has_begun()) ||
           progress->queue_delay().has_value();
  }
  /// Whether it is posted, and could start if agents, and others that run, left room for it.
  ///
  /// Precondition: it is unfinished.
  [[nodiscard]] bool waits_for_agents(Clock::time_point now) const noexcept {
    const bool is_elsewhere = unfinished->memory.has_value();  // in a line, or with other servers
    return !is_elsewhere && !unfinished->is_told && !has_started() && runnable_at <= now &&
           !is_paused() && !(group && group->deleted());
  }
  /// Whether it may not start now.   Precondition: it is unfinished.
  [[nodiscard]] bool is_paused() const noexcept {
    return kind_pause->is_on() || (group && group->pause.is_on());
  }
  [[nodiscard]] bool finished() const noexcept { return end_.has_value(); }

  /// Of a finished job; times are its last attempt's. `abort_reason` says who aborted it, in a text
  /// that is always there. What is left to the next server has not ended: its state is what it is
  /// at.
  struct End {
    JobState state;
    JobTimes times;
    std::shared_ptr<const JobResult> result = nullptr;
    /// Of a dead job, and of a failed one unless memory ran out.
    std::optional<JobFailure> failure = {};
    std::string_view abort_reason = {};
  };
  [[nodiscard]] const End& end() const noexcept { return *end_; }

  /// With a first one that its agent has counted.
  [[nodiscard]] Attempts attempts_by_now() const noexcept {
    auto now = attempts;
    if (unfinished && unfinished->first && unfinished->first->has_begun())
      now.latest = first_attempt;
    return now;
  }
  /// What a journal says of how often the job was tried.   Errors: std::bad_alloc.
  void note_attempts(const StoredJob& stored);

  /// Memory that keeping the finished job takes.
  [[nodiscard]] std::size_t kept_bytes() const noexcept;

 private:
  friend class JobStore;
  std::optional<End> end_;
  std::list<std::shared_ptr<Job>>::iterator place_;  ///< among the unfinished or the finished ones
};

struct TurnOfJob {
  using type = Clock::time_point;
  type operator()(const Job& job) const noexcept { return job.unfinished->turn; }
};
/// Unfinished jobs in the order of their turns. A place there takes no memory.
using JobsByTurn = boost::intrusive::multiset<
    Job, boost::intrusive::member_hook<Job, Job::PlaceInHeld, &Job::place_in_held>,
    boost::intrusive::key_of_value<TurnOfJob>, boost::intrusive::constant_time_size<false>>;

}  // namespace heistd
