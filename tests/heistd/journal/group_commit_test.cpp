// For how long a transaction takes in what is posted meanwhile.
#include <gmock/gmock.h>

#include <functional>
#include <heistd/journal/data_directory.hpp>
#include <heistd/journal/group_commit.hpp>
#include <heistd/journal/sqlite_schema.hpp>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scratch_directory.hpp"

namespace heistd {
namespace {

using std::chrono::milliseconds;

/// Says when it is applied and answered.
class Noted : public JournalTask {
 public:
  Noted(std::function<void()> on_apply, std::function<void()> on_answer)
      : on_apply_(std::move(on_apply)), on_answer_(std::move(on_answer)) {}
  void apply() override { on_apply_(); }
  void refuse(JournalError error) noexcept override {
    if (!is_refused) ADD_FAILURE() << describe(error);
  }
  void answer() noexcept override { on_answer_(); }

  bool is_refused = false;  ///< as it should be

 private:
  std::function<void()> on_apply_;
  std::function<void()> on_answer_;
};

/// Time goes on only as tasks are applied, by a millisecond for each of them.
class GroupCommitTest : public testing::Test {
 protected:
  /// A task that has the next one posted as it is applied, until there have been so many.
  std::unique_ptr<JournalTask> task(int number, int last) {
    return std::make_unique<Noted>(
        [this, number, last] {
          now += milliseconds(1);
          events.push_back("apply " + std::to_string(number));
          if (number < last) thread->post(task(number + 1, last));
        },
        [this, number] {
          events.push_back("answer " + std::to_string(number));
          answered.count_down();
        });
  }

  const ScratchDirectory scratch;
  const DataDirectory directory{scratch.path() / "data"};
  SqliteDatabase database = open_for_writing(directory);
  std::chrono::steady_clock::time_point now;
  std::vector<std::string> events;  ///< of the journal's thread
  std::latch answered{4};
  GroupCommit commit{database, [] {}, [] {}, [this] { return now; }};
  std::unique_ptr<JournalThread> thread;
};

// A request that never stops coming makes nobody before it wait for longer than two milliseconds.
TEST_F(GroupCommitTest, run_when_others_come_then_it_takes_them_in_for_two_milliseconds) {
  thread = std::make_unique<JournalThread>("heistd-journal", [this](JournalThread::Tasks tasks) {
    commit.run(std::move(tasks), *thread);
  });
  thread->post(task(1, 4));
  answered.wait();
  EXPECT_THAT(events, testing::ElementsAre("apply 1", "apply 2", "answer 1", "answer 2",  //
                                           "apply 3", "apply 4", "answer 3", "answer 4"));
  EXPECT_EQ(commit.commit_time().count(), 2U);
}

// A disk that cannot take what is written is slow first.
TEST_F(GroupCommitTest, run_when_the_commit_fails_then_its_time_counts) {
  database.execute("PRAGMA foreign_keys = ON");
  database.execute("CREATE TABLE a(b INTEGER PRIMARY KEY)");
  database.execute("CREATE TABLE c(b REFERENCES a DEFERRABLE INITIALLY DEFERRED)");
  auto failing = std::make_unique<Noted>([this] { database.execute("INSERT INTO c VALUES(1)"); },
                                         [this] { answered.count_down(4); });
  failing->is_refused = true;
  thread = std::make_unique<JournalThread>("heistd-journal", [this](JournalThread::Tasks tasks) {
    commit.run(std::move(tasks), *thread);
  });
  thread->post(std::move(failing));
  answered.wait();
  EXPECT_EQ(commit.commit_time().count(), 2U);  // of all that are there, and of this one alone
}

// One that shares its transaction is applied once more, alone.
TEST_F(GroupCommitTest, run_when_a_task_has_a_mistake_then_it_is_refused_and_others_are_done) {
  auto slip = std::make_unique<Noted>([] { throw std::out_of_range("no such entry"); },
                                      [this] { answered.count_down(); });
  slip->is_refused = true;
  std::latch both_posted{1};
  thread = std::make_unique<JournalThread>("heistd-journal", [&](JournalThread::Tasks tasks) {
    both_posted.wait();
    tasks.splice(tasks.end(), thread->take());
    commit.run(std::move(tasks), *thread);
  });
  thread->post(std::move(slip));
  thread->post(task(3, 3));
  thread->post(task(4, 4));
  thread->post(task(5, 5));
  both_posted.count_down();
  answered.wait();
  EXPECT_THAT(events, testing::IsSupersetOf({"answer 3", "answer 4", "answer 5"}));
}

}  // namespace
}  // namespace heistd
