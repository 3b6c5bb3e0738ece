// GroupCommit: many requests in one transaction, so that they share the wait for the disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <heistd/journal/journal_thread.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <heistd/level_stats.hpp>
#include <mutex>

namespace heistd {

/// Applies tasks in transactions, and answers them when the disk has what they did.
///
/// While one transaction is on its way to the disk, others are asked for; they make the next one.
/// So nobody waits for company, and many who ask at once wait once.
///
/// Thread: the journal's, but for commit_time().
class GroupCommit {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  /// `on_commit` is called when what was applied is stored, before anybody hears of that, and
  /// `on_roll_back` when it has been taken back.
  GroupCommit(SqliteDatabase& database, std::function<void()> on_commit,
              std::function<void()> on_roll_back, Now now = &std::chrono::steady_clock::now)
      : database_(database),
        on_commit_(std::move(on_commit)),
        on_roll_back_(std::move(on_roll_back)),
        now_(std::move(now)) {}

  /// Does these tasks, and with them those that are posted within the next 2 ms while there is one
  /// to do.
  void run(JournalThread::Tasks tasks, JournalThread& thread) noexcept;

  /// How long it took until the disk had a transaction, or could not take it; of those that had to
  /// be there.
  ///
  /// Thread: any.   Blocks: never for longer than a thousand steps.   Errors: std::bad_alloc.
  [[nodiscard]] heist::Histogram commit_time() const;

 private:
  using Tasks = JournalThread::Tasks;

  bool try_all(Tasks& tasks, JournalThread& thread) noexcept;
  void apply_all(Tasks& tasks, JournalThread& more_from);
  enum class Tried : std::uint8_t { done_or_refused, locked };
  void try_each(const Tasks& tasks) noexcept;
  Tried try_alone(JournalTask& task) noexcept;
  void begin(bool synced = true);
  void commit();
  void note_commit(std::chrono::steady_clock::time_point start);
  void overwrite_refused() noexcept;
  void roll_back() noexcept;

  SqliteDatabase& database_;
  const std::function<void()> on_commit_;
  const std::function<void()> on_roll_back_;
  const Now now_;
  bool syncs_ = true;            ///< what a commit of the database does
  bool is_left_in_log_ = false;  ///< perhaps: what the last commit has written, and then failed
  mutable std::mutex mutex_;
  DurationHistogram commit_time_;  ///< under the mutex
};

}  // namespace heistd
