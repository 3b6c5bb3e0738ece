// SqliteWrites: what is changed in a journal's database.
#pragma once

#include <heist/detail/sync.hpp>
#include <heistd/journal/job_journal.hpp>
#include <heistd/journal/recent_jobs.hpp>
#include <heistd/journal/running_attempts.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace heistd {

/// The changes of a journal, each within a transaction of the caller's.
///
/// Thread: its database's.   Errors: SqliteError, std::bad_alloc; the transaction is to be rolled
///         back then, and note_roll_back() to be called.
class SqliteWrites {
 public:
  using Effect = JobJournal::Effect;
  using Ended = JobJournal::Ended;

  SqliteWrites(SqliteDatabase& database, JournalBounds bounds, RunningAttempts& running,
               RecentJobs& recent);

  [[nodiscard]] JobJournal::Submitted submit(const NewJob& job, SystemTime now);
  [[nodiscard]] Ended complete(const JobId& id, Attempt attempt, const StoredResult& result,
                               SystemTime now);
  [[nodiscard]] Ended fail(const JobId& id, Attempt attempt, const StoredError& error,
                           std::optional<std::chrono::milliseconds> retry_after, SystemTime now);
  [[nodiscard]] Effect release(const JobId& id, Attempt attempt);
  [[nodiscard]] Ended abort(const JobId& id, const StoredError& why, SystemTime now);
  [[nodiscard]] Effect set_priority(const JobId& id, heist::TaskPriority priority);
  [[nodiscard]] Effect requeue(const JobId& id, SystemTime now);
  [[nodiscard]] Effect purge(const JobId& id);
  [[nodiscard]] JobJournal::Reclaimed reclaim(const JobJournal::Backoff& backoff, SystemTime now);
  [[nodiscard]] Effect set_signal(std::string_view client, std::string_view name,
                                  heist::TaskPriority priority);
  [[nodiscard]] Effect set_pause(const StoredPause& what, bool on,
                                 heist::TaskPriority signal_priority);
  [[nodiscard]] Ended drop_signal(std::string_view client, std::string_view name, SystemTime now);
  /// Forgets finished jobs as the bounds want it, a part of them at a time; says how many.
  std::size_t trim(SystemTime now);
  /// Forgets keys whose time is over, a part of them at a time; says how many.
  std::size_t drop_old_keys(SystemTime now);

  /// What was changed since the transaction began is stored.
  void note_commit() noexcept;
  /// It is taken back.
  void note_roll_back() noexcept;

  /// As of JobJournal::Disk.   Thread: any.
  [[nodiscard]] std::uint64_t dropped_dead() const noexcept {
    return dropped_dead_.load(heist::detail::sync::relaxed);  // relaxed: only a number
  }

 private:
  /// What decides over a job's next state.
  struct Standing {
    AcceptanceOrder order = 0;
    StoredState state = StoredState::queued;
    Attempt attempt = 0;
    Attempt forgiven = 0;
    Attempt max_attempts = 0;
    std::uint64_t payload_bytes = 0;
    std::string client;
    std::string signal_name;
    std::optional<std::string> key;

    [[nodiscard]] bool has_attempts_left() const noexcept {
      return attempt - forgiven < max_attempts;
    }
  };

  /// How a job has ended: with a result, or with an error.
  struct Ending {
    StoredState state;
    const StoredResult* result = nullptr;
    const StoredError* error = nullptr;
  };

  std::optional<Standing> find(const JobId& id);
  std::optional<Standing> find_attempt(const JobId& id, Attempt attempt);
  void note_accepted(const NewJob& job);
  void note_no_attempt(const JobId& id);
  void note_end(const JobId& id, const Standing& job);
  std::vector<JobId> running_jobs();
  std::vector<JobId> followers(AcceptanceOrder order);
  std::optional<JobJournal::Submitted> answer_of_key(const NewJob& job, SystemTime now);
  void keep_key(const NewJob& job, SystemTime now);
  void insert(const NewJob& job, std::optional<AcceptanceOrder> follows, SystemTime now);
  void store_pieces(SqliteStatement& insert, AcceptanceOrder order, const SharedBlocks& blocks);
  void make_signal(std::string_view client, std::string_view name, heist::TaskPriority priority);
  void set_state(AcceptanceOrder order, StoredState state, Attempt attempt, Attempt forgiven);
  Ended fail_attempt(const JobId& id, const Standing& job, const StoredError& error,
                     std::chrono::milliseconds retry_after, SystemTime now);
  Ended end(const JobId& id, const Standing& job, const Ending& ending, SystemTime now);
  void end_alone(const JobId& id, const Standing& job, const Ending& ending, SystemTime now);
  std::vector<JobId> abort_followers(const JobId& id, AcceptanceOrder order, SystemTime now);
  Ended abort_job(const JobId& id, const Standing& job, const StoredError& why, SystemTime now);
  void free_names(const JobId& id, const Standing& job, StoredState state);
  /// Bytes that finished jobs count for.
  struct FinishedBytes {
    std::uint64_t all = 0;
    std::uint64_t of_dead = 0;
  };
  /// A finished job that may be dropped.
  struct Finished {
    AcceptanceOrder order = 0;
    std::uint64_t bytes = 0;
    SystemTime ended_at;
    bool is_dead = false;
    bool is_last = false;  ///< of the dead ones, or of the others

    [[nodiscard]] auto place() const noexcept { return std::pair(ended_at, order); }
  };
  FinishedBytes& finished_bytes();
  void count_out(std::uint64_t bytes, bool is_dead);
  [[nodiscard]] bool may_keep_all(SystemTime oldest);
  std::optional<Finished> next_to_drop(SystemTime oldest);
  std::optional<Finished> first(SqliteStatement& statement, bool is_dead);
  bool is_newest(const Finished& job);
  void erase(AcceptanceOrder order, std::uint64_t kept, bool is_dead);

  SqliteDatabase& database_;
  const JournalBounds bounds_;
  RunningAttempts& attempts_;
  RecentJobs& recent_;
  struct Accepted {
    JobId id;
    SharedBlocks upload;
  };
  std::vector<Accepted> accepted_;  ///< that may start at once, with the transaction
  std::vector<StartNote> ended_;    ///< attempts that do not run any more, with the transaction
  std::uint64_t dropped_now_ = 0;   ///< dead ones, with the transaction
  heist::detail::sync::atomic<std::uint64_t> dropped_dead_{0};
  std::optional<FinishedBytes> finished_bytes_;  ///< empty: to be added up
  std::optional<SystemTime> first_end_;  ///< no finished job has ended before; empty: look it up

  SqliteStatement find_;
  SqliteStatement insert_job_;
  SqliteStatement insert_payload_;
  SqliteStatement insert_result_;
  SqliteStatement drop_payload_;
  SqliteStatement drop_result_;
  SqliteStatement drop_job_;
  SqliteStatement set_state_;
  SqliteStatement set_error_;
  SqliteStatement set_end_;
  SqliteStatement set_start_;
  SqliteStatement set_priority_;
  SqliteStatement kept_;
  SqliteStatement release_followers_;
  SqliteStatement followers_;
  SqliteStatement left_running_;
  SqliteStatement sum_finished_;
  SqliteStatement sum_dead_;
  SqliteStatement oldest_finished_;
  SqliteStatement newest_finished_;
  SqliteStatement make_signal_;
  SqliteStatement put_signal_;
  SqliteStatement drop_signal_;
  SqliteStatement drop_unused_signal_;
  SqliteStatement jobs_of_signal_;
  SqliteStatement hold_signal_;
  SqliteStatement set_pause_;
  SqliteStatement drop_pause_;
  SqliteStatement find_key_;
  SqliteStatement insert_key_;
  SqliteStatement take_key_back_;
  SqliteStatement drop_key_;
  SqliteStatement drop_old_key_;
  SqliteStatement drop_old_keys_;
};

}  // namespace heistd
