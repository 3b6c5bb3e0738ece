// SqliteJournal: a journal on the disk of this machine.
#pragma once

#include <filesystem>
#include <heist/detail/sync.hpp>
#include <heistd/journal/checkpoints.hpp>
#include <heistd/journal/data_directory.hpp>
#include <heistd/journal/group_commit.hpp>
#include <heistd/journal/job_journal.hpp>
#include <heistd/journal/journal_thread.hpp>
#include <heistd/journal/recent_jobs.hpp>
#include <heistd/journal/running_attempts.hpp>
#include <heistd/journal/sqlite_reads.hpp>
#include <heistd/journal/sqlite_starts.hpp>
#include <heistd/journal/sqlite_writes.hpp>
#include <heistd/journal/starter_thread.hpp>

namespace heistd {

/// Keeps everything in a directory, in a database of SQLite with a write-ahead log. An answer comes
/// when the disk has what it says, so that neither `kill -9` nor a loss of power takes it back; a
/// start is answered when the system has it, in a file beside the database, so that `kill -9` does
/// not.
///
/// One thread writes, one starts attempts, so that these do not wait for the disk, one reads, so
/// that a large result that is read delays no answer, and one copies the log into the database.
///
/// Thread: the network's.
class SqliteJournal final : public JobJournal {
 public:
  /// Makes the directory if need be, and holds it against other servers.
  ///
  /// Blocks: while it looks for damage, which reads all of the database.
  /// Errors: JournalRefused; std::system_error without a thread.
  explicit SqliteJournal(const std::filesystem::path& directory, JournalBounds bounds = {},
                         JournalClock clock = &system_time);
  ~SqliteJournal() override = default;
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;

  [[nodiscard]] Answer<Submitted> submit(NewJob job) override;
  [[nodiscard]] Answer<std::vector<Submitted>> submit_all(std::vector<NewJob> jobs) override;
  [[nodiscard]] Answer<std::optional<Started>> start(JobId id,
                                                     heist::TaskPriority priority) override;
  [[nodiscard]] std::optional<FirstStarted> take_first_start(const JobId& id) override;
  [[nodiscard]] Answer<Ended> complete(JobId id, Attempt attempt, StoredResult result) override;
  [[nodiscard]] Answer<Ended> fail(JobId id, Attempt attempt, StoredError error,
                                   std::optional<std::chrono::milliseconds> retry_after) override;
  [[nodiscard]] Answer<Effect> release(JobId id, Attempt attempt) override;
  [[nodiscard]] Answer<Ended> abort(JobId id, StoredError why) override;
  [[nodiscard]] Answer<Effect> set_priority(JobId id, heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Effect> requeue(JobId id) override;
  [[nodiscard]] Answer<Effect> purge(JobId id) override;
  [[nodiscard]] Answer<Reclaimed> reclaim(Backoff backoff) override;
  [[nodiscard]] Answer<Effect> set_signal(std::string client, std::string name,
                                          heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Ended> drop_signal(std::string client, std::string name) override;
  [[nodiscard]] Answer<Effect> set_pause(StoredPause what, bool on,
                                         heist::TaskPriority signal_priority) override;
  [[nodiscard]] Answer<std::vector<StoredPause>> pauses() override;
  [[nodiscard]] Answer<std::vector<StoredSignal>> signals() override;
  [[nodiscard]] Answer<std::optional<StoredJob>> find(JobId id) override;
  [[nodiscard]] Answer<std::size_t> count_unfinished() override;
  [[nodiscard]] Answer<std::vector<StoredJob>> load_unfinished(AcceptanceOrder after,
                                                               std::size_t most) override;
  [[nodiscard]] Answer<std::vector<StoredJob>> load_ended(std::string client, EndPlace before,
                                                          std::size_t most) override;
  [[nodiscard]] Answer<JobPage<StoredJob>> list(std::string client, JobQuery query) override;
  [[nodiscard]] Answer<std::string> read_payload(JobId id, ByteRange range) override;
  [[nodiscard]] Answer<std::string> read_result(JobId id, ByteRange range) override;
  [[nodiscard]] Answer<std::size_t> trim() override;
  [[nodiscard]] std::uint64_t late_ends() const noexcept override {
    return late_ends_.load(heist::detail::sync::relaxed);  // relaxed: only a number
  }
  [[nodiscard]] std::optional<Disk> disk() const override {
    return Disk{commit_.commit_time(), directory_.bytes(), directory_.free_bytes(),
                writes_.dropped_dead()};
  }

 private:
  template <class Apply>
  auto write(Apply apply);
  template <class Apply>
  auto end_attempt(Apply apply);
  template <class Apply>
  auto read(Apply apply);

  const JournalClock clock_;
  const DataDirectory directory_;
  SqliteDatabase written_;
  SqliteDatabase read_;
  SqliteDatabase started_;
  Checkpoints checkpoints_;
  RunningAttempts attempts_;
  RecentJobs recent_;
  SqliteWrites writes_;
  SqliteReads reads_;
  SqliteStarts starts_;
  GroupCommit commit_;
  heist::detail::sync::atomic<std::uint64_t> late_ends_{0};
  JournalThread writer_;
  JournalThread reader_;
  StarterThread starter_;
};

}  // namespace heistd
