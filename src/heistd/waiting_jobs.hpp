// WaitingJobs: jobs that a journal keeps, and of which memory has a record only.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/priority.hpp>
#include <heistd/budget.hpp>
#include <heistd/followers.hpp>
#include <heistd/job_counts.hpp>
#include <heistd/job_id.hpp>
#include <heistd/jobs_ahead.hpp>
#include <heistd/kind.hpp>
#include <heistd/signal_group.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace heistd {

struct JobLine;

/// A job that waits for its turn to be read from the journal and posted on the agents.
struct WaitingJob {
  using Place = boost::intrusive::list_member_hook<>;
  using TimePlace = boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>>;
  enum class State : std::uint8_t {
    delayed,
    in_line,
    taken,      ///< it is being read
    following,  ///< another job, which has not ended yet
  };

  using Id = Followers::Id;

  Id id;  ///< the bits of the JobId
  JobLine* line;
  JobCounts::TimePoint runnable_at;
  JobCounts::TimePoint expires_at;  ///< the largest one: never
  std::uint64_t turn = 0;           ///< among the client's jobs in lines
  Place place = {};                 ///< in its line
  std::size_t stored_bytes = 0;     ///< of its upload, on the disk
  TimePlace time_place = {};        ///< among its line's delayed ones, or those that may expire
  State state = State::delayed;
  bool has_job = false;  ///< a Job that is not posted yet, as somebody waits for it; it counts

  /// When it becomes runnable, as far as that is known.
  [[nodiscard]] JobCounts::TimePoint runnable_from() const noexcept {
    return state == State::following ? JobCounts::TimePoint::max() : runnable_at;
  }
};

/// Jobs by the time at which something comes for them: the end of their delay, or their expiry.
template <JobCounts::TimePoint WaitingJob::* time>
struct TimeOfJob {
  using type = JobCounts::TimePoint;
  const type& operator()(const WaitingJob& job) const noexcept { return job.*time; }
};
template <JobCounts::TimePoint WaitingJob::* time>
using JobsByTime = boost::intrusive::multiset<
    WaitingJob,
    boost::intrusive::member_hook<WaitingJob, WaitingJob::TimePlace, &WaitingJob::time_place>,
    boost::intrusive::key_of_value<TimeOfJob<time>>>;

/// Errors: std::bad_alloc.
[[nodiscard]] JobId text_of(const WaitingJob::Id& id);

/// Jobs of a client that are of one kind and have the same priority at all times, in the order of
/// their turns.
///
/// Thread: the network's.
struct JobLine : std::enable_shared_from_this<JobLine> {
  /// Enough for all agents to have another job at once while the journal is asked for more.
  static constexpr std::size_t most_posted = 64;

  /// Counts a job of the line that is posted, until it has started; or until it has run, of one
  /// that starts at once, as the network does not hear of its start.
  class Share {
   public:
    enum class Of : std::uint8_t { asking, at_once };

    explicit Share(std::shared_ptr<JobLine> line, Of jobs = Of::asking) noexcept
        : line_(std::move(line)), starts_at_once_(jobs == Of::at_once) {
      ++line_->posted;
      if (starts_at_once_) ++line_->posted_at_once;
    }
    Share(Share&& other) noexcept = default;
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (!line_) return;
      --line_->posted;
      if (starts_at_once_) --line_->posted_at_once;
    }

   private:
    std::shared_ptr<JobLine> line_;
    bool starts_at_once_;
  };
  using Jobs = boost::intrusive::list<
      WaitingJob, boost::intrusive::member_hook<WaitingJob, WaitingJob::Place, &WaitingJob::place>>;

  JobLine(std::string its_signal_name, std::shared_ptr<SignalGroup> its_group,
          std::optional<heist::TaskPriority> its_priority, std::shared_ptr<JobCounts> its_counts,
          const Kind& its_kind, std::shared_ptr<const Pause> its_kind_pause)
      : signal_name(std::move(its_signal_name)),
        group(std::move(its_group)),
        fixed(its_priority),
        counts(std::move(its_counts)),
        kind(its_kind),
        kind_pause(std::move(its_kind_pause)) {}

  const std::string signal_name;
  const std::shared_ptr<SignalGroup> group;        ///< of the signal name, or null
  const std::optional<heist::TaskPriority> fixed;  ///< their own priority; empty: the group's
  const std::shared_ptr<JobCounts> counts;
  const Kind& kind;
  const std::shared_ptr<const Pause> kind_pause;  ///< of the client's
  Jobs jobs;                                      ///< by their turns
  Jobs being_read;  ///< taken from there, in the order in which they were
  Jobs others;      ///< delayed ones, and those that follow others
  JobsByTime<&WaitingJob::runnable_at> delayed;  ///< of the others, by their times
  std::size_t posted = 0;          ///< jobs that have been taken from here, and have not started
  std::size_t posted_at_once = 0;  ///< of those posted, that start at once
  JobsAhead ahead;

  [[nodiscard]] heist::TaskPriority priority() const noexcept {
    return fixed ? *fixed : group->priority();
  }
  /// Whether none of its jobs may be posted now, so that other lines need not wait for these.
  [[nodiscard]] bool is_held_up() const noexcept {
    return (group && group->deleted()) || is_paused();
  }
  [[nodiscard]] bool is_paused() const noexcept {
    return kind_pause->is_on() || (group && group->pause.is_on());
  }
  [[nodiscard]] static std::shared_ptr<JobsAhead> ahead_of(const std::shared_ptr<JobLine>& line) {
    return {line, &line->ahead};
  }
  [[nodiscard]] bool is_under(const Pause& pause) const noexcept {
    return kind_pause.get() == &pause || (group && &group->pause == &pause);
  }
  /// Whether jobs that a pause had held back are still to be posted, before all others.
  [[nodiscard]] bool has_held() const noexcept { return ahead.any_held() && !is_held_up(); }
  [[nodiscard]] bool is_unused() const noexcept {
    return jobs.empty() && being_read.empty() && others.empty() && posted == 0 && ahead.none();
  }
  /// Whether the delay of one is over that has not been woken.
  [[nodiscard]] bool any_due(JobCounts::TimePoint now) const noexcept {
    return !delayed.empty() && delayed.begin()->runnable_at <= now;
  }
  /// When the first of those that wait here for nothing but their turn became runnable; nothing
  /// when none does.
  [[nodiscard]] std::optional<JobCounts::TimePoint> first_runnable_at() const noexcept {
    if (!being_read.empty()) return being_read.front().runnable_at;
    if (!jobs.empty()) return jobs.front().runnable_at;
    return std::nullopt;
  }
};

/// The jobs of one client that wait. A Job with its task takes some kilobytes, so only the first
/// ones of a line have that, and of the others there is a record of some 150 bytes here. All else
/// that is known of them is in the journal.
///
/// Turns decides when they become Jobs. What is paused holds up no others.
///
/// Thread: the network's.   Cost: of without_run_place(), a step for each line.
class WaitingJobs {
 public:
  using TimePoint = JobCounts::TimePoint;
  static constexpr std::size_t most_posted = JobLine::most_posted;
  /// What a record takes, with its places in this.
  static constexpr std::size_t record_bytes = 192;

  explicit WaitingJobs(std::shared_ptr<Budget> budget) noexcept : budget_(std::move(budget)) {}
  WaitingJobs(const WaitingJobs&) = delete;
  WaitingJobs& operator=(const WaitingJobs&) = delete;
  ~WaitingJobs();

  /// The line of the jobs of this kind, with this group and this priority, whose numbers the counts
  /// have.
  ///
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::shared_ptr<JobLine> line_of(const std::string& signal_name,
                                                 const std::shared_ptr<SignalGroup>& group,
                                                 std::optional<heist::TaskPriority> fixed,
                                                 const std::shared_ptr<JobCounts>& counts,
                                                 const Kind& kind,
                                                 const std::shared_ptr<const Pause>& kind_pause);

  struct Times {
    TimePoint runnable_at;
    TimePoint expires_at = TimePoint::max();
  };
  /// The job waits for its time, and before that for the end of the one that it follows, if any. Of
  /// its upload so many bytes count for the disk.
  ///
  /// Errors: std::bad_alloc; nothing changed.
  void add(const JobId& id, const std::shared_ptr<JobLine>& line, Times times,
           const JobId& follows = {}, std::size_t stored_bytes = 0);
  /// A job that follows another one need not wait for that any more.
  void release(const JobId& id) noexcept;
  [[nodiscard]] bool is_following(const JobId& id) noexcept;
  /// Of those here.
  [[nodiscard]] Followers& followers() noexcept { return followers_; }
  void note_end(const JobId& predecessor, Followers::End end) noexcept;
  void note_abort(const JobId& follower) noexcept;
  /// Empty when it follows no other one.   Errors: std::bad_alloc.
  [[nodiscard]] JobId predecessor_of(const JobId& follower) const;
  /// Null when it does not wait here.
  [[nodiscard]] WaitingJob* find(const JobId& id) noexcept;
  /// Does nothing when the job does not wait here.
  void remove(const JobId& id) noexcept;
  /// Gives a job that waits here its place in another line of the same group, if it waits here.
  ///
  /// Cost: a step for each job before or behind it there, whatever is less.
  void move(const JobId& id, JobLine& to) noexcept;
  /// The job has a Job now, which counts instead of this.
  void note_job(WaitingJob& job) noexcept;
  /// Removes a batch of the jobs of a signal's group; says how many, which is none when all are
  /// gone.   Cost: a step for each line, and for each of the batch.
  /// `dropped` is told each of them first, and throws nothing.
  using Dropped = std::function<void(const WaitingJob&)>;
  std::size_t drop_some(const SignalGroup& group, const Dropped& dropped) noexcept;

  /// The next job of a line that has some is about to be posted; its record stays until it is
  /// removed.   Errors: std::bad_alloc.
  [[nodiscard]] JobId take(JobLine& line);
  /// Undoes take().
  void put_back(const JobId& id) noexcept;

  /// When the first delay is over or the first job expires; nothing when neither will be. Requests
  /// have a job expire later than its delay.
  ///
  /// Cost: a step for each line.
  [[nodiscard]] std::optional<TimePoint> next_time() const noexcept;
  /// Whether jobs of this priority are to be woken. Until they are, what becomes runnable comes
  /// behind them (JRN-5).   Cost: a step for each line.
  [[nodiscard]] bool any_due(heist::TaskPriority priority, TimePoint now) const noexcept;
  /// Gives a batch of the jobs whose delay is over their places in their lines: the most urgent
  /// ones first, and of one priority those whose delay was over first.
  ///
  /// Cost: for each of them, a step for each line.
  void wake_some(TimePoint now) noexcept;
  /// A job that has expired, if there is one whose delay was over or that had none.
  ///
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::optional<JobId> expired(TimePoint now) const;

  [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }
  /// Those of them that have no Job yet.
  [[nodiscard]] std::size_t without_job() const noexcept { return jobs_.size() - with_job_; }

  using LineKey = std::tuple<const SignalGroup*, std::optional<heist::TaskPriority>, const Kind*>;
  using Lines = std::map<LineKey, std::shared_ptr<JobLine>>;
  /// At most twice as many as have been in use at a time, and a few.
  [[nodiscard]] const Lines& lines() const noexcept { return lines_; }
  void drop_unused_lines() noexcept;
  /// Jobs of this priority, and of more urgent ones, that are posted and have no place yet among
  /// those that run, as those that start at once do.
  [[nodiscard]] std::size_t without_run_place(heist::TaskPriority least) const noexcept;

 private:
  struct HashOfId {
    std::size_t operator()(const WaitingJob::Id& id) const noexcept { return id[0]; }  // random
  };
  using Jobs = std::unordered_map<WaitingJob::Id, WaitingJob, HashOfId>;

  void erase(Jobs::iterator found) noexcept;
  void link(WaitingJob& job) noexcept;
  void unlink(WaitingJob& job) noexcept;
  void set_state(WaitingJob& job, WaitingJob::State state) noexcept;
  void wake(WaitingJob& job) noexcept;
  [[nodiscard]] JobLine* first_due(TimePoint now) const noexcept;

  const std::shared_ptr<Budget> budget_;
  Jobs jobs_;
  std::size_t with_job_ = 0;
  Followers followers_;
  Lines lines_;
  std::size_t lines_in_use_ = 0;  ///< when unused ones were dropped the last time for a new one
  /// The jobs that may expire, but for delayed ones and those that are being read.
  JobsByTime<&WaitingJob::expires_at> expiring_;
  std::uint64_t last_turn_ = 0;
};

}  // namespace heistd
