// How a journal on disk starts jobs: beside its database, and so that no count is lost or doubled.
#include <cerrno>
#include <heist/detail/sync.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <latch>
#include <semaphore>

#include "failing_disk.hpp"
#include "journal_fixture.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;

/// Of recent jobs, and of others: those that were accepted with a delay, which the journal itself
/// does not wait for.
class SqliteJournalStarts : public JournalTest<OnDisk> {
 protected:
  std::filesystem::path directory() const { return implementation.directory.path() / "data"; }
  void reopen() { open(JournalBounds()); }
  static NewJob not_recent(int number) {
    auto job = new_job(number);
    job.delay = milliseconds(1);
    return job;
  }
  /// How many attempts have run at the same time at the most.
  std::uintmax_t places() const { return std::filesystem::file_size(directory() / "starts") / 64; }
  Effect complete_attempt(int number, Attempt attempt) {
    return said(journal->complete(id_of(number), attempt, {"text", blocks("result")}));
  }
};

// Rule: JRN-2
TEST_F(SqliteJournalStarts, reopen_when_attempts_have_ended_then_their_notes_count_for_nothing) {
  for (const int number : {1, 2, 3}) {
    auto job = new_job(number);
    job.max_attempts = number == 3 ? 1 : 2;
    submit(job);
  }
  const auto failed = start(1);
  said(journal->fail(id_of(1), failed, {"broken", "It broke."}, milliseconds(0)));
  said(journal->release(id_of(2), start(2)));
  kill(3);
  said(journal->requeue(id_of(3)));
  reopen();
  for (const int number : {1, 2, 3}) {
    EXPECT_EQ(state(number), StoredState::queued);
    EXPECT_EQ(start(number), 2U);
  }
}

// Rule: JRN-2
TEST_F(SqliteJournalStarts, reopen_when_an_earlier_version_has_left_running_jobs_then_they_run) {
  for (const int number : {1, 2}) submit(new_job(number));
  journal.reset();
  std::filesystem::remove(directory() / "starts");
  SqliteDatabase(directory() / "journal.sqlite", SqliteDatabase::Access::write)
      .execute("UPDATE job SET state = 1, attempt = 1");
  reopen();
  EXPECT_FALSE(said(journal->start(id_of(1), any_priority)));
  EXPECT_EQ(complete_attempt(1, 1), Effect::stored);
  EXPECT_EQ(said(journal->reclaim([](Attempt) { return milliseconds(0); })).dead, 1U);
}

// Rule: JRN-2
TEST_F(SqliteJournalStarts, complete_when_it_cannot_be_stored_then_the_attempt_runs_on) {
  submit(new_job(1));
  const auto attempt = start(1);
  {
    const FailingDisk disk([] { return ENOSPC; });
    EXPECT_FALSE(journal->complete(id_of(1), attempt, {"", blocks("result")}).get());
  }
  EXPECT_EQ(state(1), StoredState::running);
  EXPECT_FALSE(said(journal->start(id_of(1), any_priority)));
  EXPECT_EQ(complete_attempt(1, attempt), Effect::stored);
}

// Rule: JRN-1
TEST_F(SqliteJournalStarts, start_when_many_were_accepted_since_then_the_upload_comes) {
  constexpr int count = static_cast<int>(RecentJobs::most_jobs) + 50;
  std::vector<NewJob> jobs;
  for (int number = 0; number < count; ++number) {
    jobs.push_back(new_job(number, std::to_string(number)));
  }
  said(journal->submit_all(std::move(jobs)));
  for (const int number : {0, count - 1}) {
    EXPECT_EQ(said(journal->start(id_of(number), any_priority))->block, std::to_string(number));
  }
}

// Rule: JRN-5
TEST_F(SqliteJournalStarts, start_when_others_of_its_priority_wait_then_it_comes_after_them) {
  submit(not_recent(1));
  for (const int number : {2, 3}) submit(new_job(number));
  std::latch go_on(1);
  const WaitingDisk disk([&] { go_on.wait(); });
  const auto first = journal->start(id_of(1), TaskPriority::background);
  const auto second = journal->start(id_of(2), TaskPriority::background);
  const auto urgent = journal->start(id_of(3), TaskPriority::user_blocking);
  EXPECT_FALSE(second.settled());
  go_on.count_down();
  EXPECT_TRUE(said(second));
  EXPECT_TRUE(first.settled());
  EXPECT_TRUE(urgent.settled());
  EXPECT_FALSE(said(journal->start(id_of(2), TaskPriority::user_blocking)));
}

// Rule: JRN-2
TEST_F(SqliteJournalStarts,
       start_when_the_attempt_before_ends_meanwhile_then_no_number_comes_twice) {
  submit(not_recent(1));
  const auto first = start(1);
  submit(new_job(2));  // so that the next start reads the disk
  heist::detail::sync::atomic<bool> has_ended{false};
  const WaitingDisk disk([&] {
    if (has_ended.exchange(true, heist::detail::sync::relaxed)) return;
    EXPECT_EQ(said(journal->release(id_of(1), first)), Effect::stored);
  });
  const auto started = said(journal->start(id_of(1), any_priority));
  EXPECT_TRUE(has_ended.load(heist::detail::sync::relaxed));
  EXPECT_NE(started ? started->attempt : 0, first);
}

// Rule: JRN-2
TEST_F(SqliteJournalStarts, take_first_start_then_the_attempt_counts_until_it_is_taken_back) {
  submit(new_job(1));
  auto first = journal->take_first_start(id_of(1));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->upload, "bytes");
  EXPECT_FALSE(journal->take_first_start(id_of(1)));
  EXPECT_EQ(state(1), StoredState::queued);
  first->attempt->count();
  EXPECT_EQ(state(1), StoredState::running);
  first->attempt->take_back();
  EXPECT_EQ(state(1), StoredState::queued);
  first->attempt->count();
  first.reset();
  reopen();
  EXPECT_EQ(find(1).attempt, 1U);
  EXPECT_EQ(state(1), StoredState::running);
}

TEST_F(SqliteJournalStarts, start_when_the_job_is_being_aborted_then_what_comes_late_ends_it) {
  for (const int number : {1, 2, 3}) submit(new_job(number));
  const auto start_during_abort = [this](int number) {
    std::counting_semaphore<> begun{0};
    std::latch go_on(1);
    const FailingDisk disk([&] { return begun.release(), go_on.wait(), 0; });
    const auto aborted = journal->abort(id_of(number), aborted_because("the test"));
    begun.acquire();
    const auto attempt = start(number);
    go_on.count_down();
    EXPECT_EQ(said(aborted), Effect::stored);
    EXPECT_EQ(state(number), StoredState::aborted);
    return attempt;
  };
  EXPECT_EQ(complete_attempt(1, start_during_abort(1)), Effect::late);
  start_during_abort(2);
  EXPECT_EQ(said(journal->abort(id_of(2), aborted_because("once more"))), Effect::late);
  start(3);
  EXPECT_EQ(places(), 1U);
}

// Rule: JRN-2
TEST_F(SqliteJournalStarts, start_when_another_server_has_the_directory_then_an_error) {
  submit(new_job(1));
  submit(not_recent(2));
  // As the lock of a machine that is taken for dead may be lost.
  std::filesystem::copy_file(directory() / "lock", directory() / "copy");
  std::filesystem::rename(directory() / "copy", directory() / "lock");
  SqliteJournal other(directory(), JournalBounds(), [this] { return now; });
  for (const int number : {1, 2}) {
    EXPECT_EQ(said(other.start(id_of(number), any_priority))->attempt, 1U);
    const auto started = journal->start(id_of(number), any_priority).get();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().fault, JournalFault::in_use);
  }
}

}  // namespace
}  // namespace heistd
