// What a journal on disk does beyond what all do: it outlives its process, and says what is wrong.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <cerrno>
#include <fstream>
#include <heist/detail/sync.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <latch>
#include <semaphore>

#include "failing_disk.hpp"
#include "journal_fixture.hpp"

namespace heistd {
namespace {

class SqliteJournalTest : public JournalTest<OnDisk> {
 protected:
  std::filesystem::path directory() const { return implementation.directory.path() / "data"; }
  std::filesystem::path file(std::string_view name = "journal.sqlite") const {
    return directory() / name;
  }
  void reopen() { open(JournalBounds()); }
  /// Why the journal is refused; nothing when it is opened.
  std::optional<JournalFault> fault_at_start() {
    try {
      reopen();
      return std::nullopt;
    } catch (const JournalRefused& refused) {
      EXPECT_NE(std::string(refused.what()).find(directory().string()), std::string::npos);
      return refused.fault();
    }
  }
  std::optional<JournalFault> fault_of_submit(int number) {
    const auto answer = journal->submit(new_job(number)).get();
    if (answer) return std::nullopt;
    EXPECT_FALSE(describe(answer.error()).empty());
    return answer.error().fault;
  }
  void damage(std::string_view with, std::streamoff place) {
    std::fstream database(file(), std::ios::in | std::ios::out | std::ios::binary);
    database.seekp(place);
    database << with;
  }
  /// As somebody might by hand.
  void run_sql(const char* sql) {
    ::sqlite3* connection = nullptr;
    ASSERT_EQ(::sqlite3_open(file().c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(::sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    ::sqlite3_close(connection);
  }
};

// Rule: JRN-1
TEST_F(SqliteJournalTest, reopen_then_all_that_was_answered_is_there) {
  auto job = new_job(1);
  job.signal_name = "night";
  job.delay = milliseconds(1000);
  job.key = {"key", "digest"};
  submit(job);
  for (const int number : {2, 3, 4}) submit(new_job(number));
  complete(2);
  kill(3);
  start(4);
  said(journal->set_signal("alice", "night", heist::TaskPriority::background));
  now += milliseconds(300);
  reopen();
  EXPECT_EQ(unfinished(), (std::vector{id_of(1), id_of(4)}));
  EXPECT_EQ(find(1).delay, milliseconds(700));
  EXPECT_EQ(find(1).key->key, "key");
  EXPECT_EQ(result(2), "result");
  EXPECT_EQ(state(3), StoredState::dead);
  EXPECT_EQ(state(4), StoredState::running);
  EXPECT_EQ(find(4).attempt, 1U);
  EXPECT_EQ(said(journal->signals())[0].priority, heist::TaskPriority::background);
}

TEST_F(SqliteJournalTest, reopen_then_the_order_goes_on_behind_the_old_jobs) {
  submit(new_job(1));
  complete(1);
  const auto order = find(1).order;
  said(journal->purge(id_of(1)));
  reopen();
  submit(new_job(2));
  EXPECT_GT(find(2).order, order);
}

TEST_F(SqliteJournalTest, reopen_then_old_results_count) {
  for (const int number : {1, 2}) submit(new_job(number)), complete(number);
  open({.finished_bytes = 2 * finished_record_bytes + 12});
  submit(new_job(3));
  now += milliseconds(1);
  complete(3);
  EXPECT_FALSE(knows(1));
  EXPECT_TRUE(knows(2));
}

TEST_F(SqliteJournalTest, destroy_then_what_was_asked_for_is_done_first) {
  std::vector<JobJournal::Answer<JobJournal::Submitted>> answers;
  for (int number = 1; number <= 100; ++number) answers.push_back(journal->submit(new_job(number)));
  reopen();
  for (const auto& answer : answers) EXPECT_TRUE(answer.get());
  EXPECT_EQ(said(journal->count_unfinished()), 100U);
}

TEST_F(SqliteJournalTest, disk_when_a_transaction_is_synced_then_it_is_timed_and_its_bytes_count) {
  submit(new_job(1, std::string(100'000, 'x')));
  const auto commits = journal->disk()->commit_time.count();
  EXPECT_GT(commits, 0U);
  EXPECT_GT(journal->disk()->bytes, 100'000U);
  start(1);  // which does not wait for the disk
  EXPECT_EQ(journal->disk()->commit_time.count(), commits);
}

TEST_F(SqliteJournalTest, open_then_each_of_its_threads_has_a_name) {
  std::vector<std::string> names;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "comm");
    std::getline(file, names.emplace_back());
  }
  EXPECT_THAT(names, testing::IsSupersetOf(
                         {"heistd-journal", "heistd-starts", "heistd-reads", "heistd-copies"}));
}

TEST_F(SqliteJournalTest, open_when_another_server_has_the_directory_then_refused) {
  try {
    const SqliteJournal other(directory());
    ADD_FAILURE() << "two servers use one directory";
  } catch (const JournalRefused& refused) {
    EXPECT_EQ(refused.fault(), JournalFault::in_use);
  }
}

TEST_F(SqliteJournalTest, open_when_a_page_is_damaged_then_refused) {
  for (int number = 1; number <= 200; ++number) submit(new_job(number));
  journal.reset();
  damage(std::string(20'000, 'x'), 5000);
  EXPECT_EQ(fault_at_start(), JournalFault::corrupt);
}

TEST_F(SqliteJournalTest, open_when_the_file_is_no_database_then_refused) {
  journal.reset();
  damage("not a database", 0);
  EXPECT_EQ(fault_at_start(), JournalFault::corrupt);
}

TEST_F(SqliteJournalTest, open_when_the_file_is_cut_off_then_refused) {
  for (int number = 1; number <= 200; ++number) submit(new_job(number));
  journal.reset();
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
  EXPECT_EQ(fault_at_start(), JournalFault::corrupt);
}

TEST_F(SqliteJournalTest, open_when_the_file_is_gone_or_empty_then_refused) {
  journal.reset();
  std::filesystem::resize_file(file(), 0);
  EXPECT_EQ(fault_at_start(), JournalFault::corrupt);
  std::filesystem::remove(file());
  EXPECT_EQ(fault_at_start(), JournalFault::corrupt);
}

TEST_F(SqliteJournalTest, open_when_the_database_is_another_programs_then_refused) {
  journal.reset();
  run_sql("PRAGMA application_id = 1");
  EXPECT_EQ(fault_at_start(), JournalFault::corrupt);
}

TEST_F(SqliteJournalTest, open_when_a_newer_version_has_made_it_then_refused) {
  journal.reset();
  run_sql("PRAGMA user_version = 1000");
  EXPECT_EQ(fault_at_start(), JournalFault::too_new);
}

TEST_F(SqliteJournalTest, open_when_the_first_version_has_made_it_then_its_jobs_are_there) {
  submit(new_job(1));
  submit(new_job(3));
  complete(3);
  journal.reset();
  run_sql(
      "DROP TABLE pause; ALTER TABLE job DROP COLUMN expires_at; "
      "ALTER TABLE job DROP COLUMN timeout; DROP INDEX job_follower; "
      "ALTER TABLE job DROP COLUMN follows; ALTER TABLE job DROP COLUMN predecessor; "
      "ALTER TABLE job DROP COLUMN request_id; "
      "DROP INDEX job_unfinished; DROP INDEX job_of_signal; DROP INDEX job_finished; "
      "DROP INDEX job_ended; DROP INDEX job_dead_bytes; "
      "CREATE INDEX job_unfinished ON job(seq) WHERE state < 2; "
      "CREATE INDEX job_running ON job(seq) WHERE state = 1; "
      "CREATE INDEX job_of_signal ON job(client, signal) WHERE signal IS NOT NULL AND state < 2; "
      "CREATE INDEX job_finished ON job(ended_at, seq, kept) WHERE state >= 2; "
      "PRAGMA user_version = 1");
  reopen();
  EXPECT_EQ(payload(1), "bytes");
  EXPECT_EQ(find(1).ttl, std::nullopt);
  EXPECT_EQ(said(journal->load_ended("alice", {}, 10)).size(), 1U);
  auto job = new_job(2);
  job.ttl = milliseconds(5);
  submit(std::move(job));
  EXPECT_EQ(find(2).ttl, milliseconds(5));
}

TEST_F(SqliteJournalTest, trim_when_dead_jobs_go_then_the_disk_s_figures_count_them) {
  open({.finished_age = std::chrono::seconds(10)});
  for (const int number : {1, 2, 3}) {
    submit(new_job(number));
    number == 1 ? complete(number) : kill(number);
  }
  EXPECT_EQ(journal->disk()->dropped_dead, 0U);
  now += std::chrono::seconds(11);
  said(journal->trim());
  EXPECT_EQ(journal->disk()->dropped_dead, 2U);
}

TEST_F(SqliteJournalTest, trim_when_there_are_many_then_a_part_of_them_goes_at_a_time) {
  open({.finished_age = std::chrono::seconds(10)});
  for (int number = 1; number <= 1001; ++number) {
    static_cast<void>(journal->submit(new_job(number)));
    static_cast<void>(journal->abort(id_of(number), aborted_because("the test")));
  }
  now += std::chrono::seconds(11);
  EXPECT_EQ(said(journal->trim()), 1000U);
  EXPECT_TRUE(knows(1001));
  EXPECT_EQ(said(journal->trim()), 1U);
  EXPECT_FALSE(knows(1001));
}

TEST_F(SqliteJournalTest,
       trim_when_the_time_of_many_keys_is_over_then_a_part_of_them_goes_at_a_time) {
  for (int number = 1; number <= 1001; ++number) {
    auto job = new_job(number);
    job.key = {"key " + std::to_string(number), "digest"};
    static_cast<void>(journal->submit(job));
  }
  now += idempotency_life - milliseconds(1);
  EXPECT_EQ(said(journal->trim()), 0U);
  now += milliseconds(1);
  EXPECT_EQ(said(journal->trim()), 1000U);
  EXPECT_EQ(said(journal->trim()), 1U);
  EXPECT_EQ(said(journal->trim()), 0U);
}

TEST_F(SqliteJournalTest, open_when_the_database_may_not_be_written_then_refused) {
  journal.reset();
  const ReadOnlyDisk disk;
  EXPECT_EQ(fault_at_start(), JournalFault::read_only);
}

TEST_F(SqliteJournalTest, open_when_the_directory_cannot_be_made_then_refused) {
  EXPECT_THROW(SqliteJournal(directory() / "no" / "such"), JournalRefused);
  EXPECT_THROW(SqliteJournal("/proc/heistd"), JournalRefused);
}

// Rule: JRN-1
TEST_F(SqliteJournalTest, submit_when_another_program_holds_a_lock_then_an_error_and_it_goes_on) {
  ::sqlite3* other = nullptr;
  ASSERT_EQ(::sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(::sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(fault_of_submit(1), JournalFault::locked);
  ::sqlite3_close(other);
  EXPECT_FALSE(knows(1));
  submit(new_job(1));
}

TEST_F(SqliteJournalTest,
       submit_when_many_find_the_lock_then_they_do_not_wait_one_after_the_other) {
  constexpr int requests = 20;
  ::sqlite3* other = nullptr;
  ASSERT_EQ(::sqlite3_open(file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(::sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::latch all_asked(1);
  std::chrono::microseconds waited{};
  std::vector<JobJournal::Answer<JobJournal::Submitted>> answers;
  {
    const InsteadOfSleeping counted([&](std::chrono::microseconds time) {
      all_asked.wait();
      waited += time;
    });
    for (int i = 0; i < requests; ++i) answers.push_back(journal->submit(new_job(i)));
    all_asked.count_down();
    for (const auto& answer : answers) EXPECT_EQ(answer.get().error().fault, JournalFault::locked);
  }
  ::sqlite3_close(other);
  // The first ones that came, and then all others: together, and then one of them alone.
  EXPECT_LE(waited, std::chrono::milliseconds(4 * 250));
}

/// What the disk answers, and what the journal makes of it.
struct DiskFault {
  int system;
  JournalFault fault;
};
class SqliteJournalFaults : public SqliteJournalTest,
                            public testing::WithParamInterface<DiskFault> {};

// Rule: JRN-1
TEST_P(SqliteJournalFaults, submit_when_the_disk_fails_then_an_error_and_it_goes_on) {
  submit(new_job(1));
  {
    const FailingDisk disk([] { return GetParam().system; });
    EXPECT_EQ(fault_of_submit(2), GetParam().fault);
    EXPECT_EQ(payload(1), "bytes");
  }
  EXPECT_FALSE(knows(2));
  submit(new_job(2));
  complete(1);
  reopen();
  EXPECT_EQ(result(1), "result");
  EXPECT_EQ(state(2), StoredState::queued);
}

INSTANTIATE_TEST_SUITE_P(Disk, SqliteJournalFaults,
                         testing::Values(DiskFault{ENOSPC, JournalFault::disk_full},
                                         DiskFault{EROFS, JournalFault::read_only},
                                         DiskFault{EIO, JournalFault::io_failed}));

TEST_F(SqliteJournalTest, bounds_when_what_was_stored_is_taken_back_then_it_does_not_count) {
  open({.finished_bytes = 2 * finished_record_bytes + 20});
  for (const int number : {1, 2}) submit(new_job(number));
  complete(1);
  const auto attempt = start(2);
  {
    const FailingDisk disk([] { return ENOSPC; });
    EXPECT_FALSE(journal->complete(id_of(2), attempt, {"", blocks("result")}).get());
  }
  said(journal->complete(id_of(2), attempt, {"", blocks("result")}));
  EXPECT_TRUE(knows(1));
}

TEST_F(SqliteJournalTest, bounds_when_a_dead_job_is_queued_again_then_it_does_not_count) {
  open({.finished_bytes = 2 * finished_record_bytes + 12});
  for (const int number : {1, 2, 3}) submit(new_job(number));
  kill(1);
  said(journal->requeue(id_of(1)));
  for (const int number : {2, 3}) complete(number);
  EXPECT_TRUE(knows(2));
}

TEST_F(SqliteJournalTest, purge_then_neither_the_upload_nor_the_result_takes_room) {
  for (const int number : {1, 2}) submit(new_job(number));
  complete(1);
  kill(2);
  for (const int number : {1, 2}) said(journal->purge(id_of(number)));
  SqliteDatabase database(file(), SqliteDatabase::Access::read);
  EXPECT_EQ(database.number("SELECT count(*) FROM payload"), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM result"), 0);
}

// Rule: JRN-1
TEST_F(SqliteJournalTest, submit_when_the_write_has_not_returned_then_there_is_no_answer) {
  std::counting_semaphore<> begun{0};
  std::counting_semaphore<> go_on{0};
  heist::detail::sync::atomic<bool> first{true};
  const FailingDisk disk([&] {
    if (first.exchange(false, heist::detail::sync::relaxed)) {
      begun.release();
      go_on.acquire();
    }
    return 0;
  });
  const auto answer = journal->submit(new_job(1));
  begun.acquire();
  EXPECT_FALSE(answer.settled());
  go_on.release();
  said(answer);
}

TEST_F(SqliteJournalTest, submit_when_many_ask_at_once_then_they_share_a_transaction) {
  std::counting_semaphore<> begun{0};
  std::counting_semaphore<> go_on{0};
  int writes = 0;
  const FailingDisk disk([&] {
    if (++writes == 1) begun.release(), go_on.acquire();
    return 0;
  });
  std::vector<JobJournal::Answer<JobJournal::Submitted>> answers;
  answers.push_back(journal->submit(new_job(1)));
  begun.acquire();
  for (int number = 2; number <= 200; ++number) answers.push_back(journal->submit(new_job(number)));
  go_on.release();
  for (const auto& answer : answers) said(answer);
  // One transaction for each would write three pages each, with two writes for a page.
  EXPECT_LT(writes, 3 * 200);
}

}  // namespace
}  // namespace heistd
