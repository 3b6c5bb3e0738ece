// kill -9 in the middle: what a journal on disk has answered is there afterwards.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "journal_fixture.hpp"

namespace heistd {
namespace {

/// A process that asks a journal, and tells this one what was answered.
class JournalKillTest : public JournalTest<OnDisk> {
 protected:
  void SetUp() override { journal.reset(); }

  /// `ask` runs in a process of its own until that is killed.
  template <class Ask>
  void begin(Ask ask) {
    ASSERT_EQ(::pipe(pipe_.data()), 0);
    process_ = ::fork();
    ASSERT_GE(process_, 0);
    if (process_ > 0) return;
    journal = implementation.open(JournalBounds(), &system_time);
    ask();
    std::abort();
  }
  void tell(int number) { EXPECT_EQ(::write(pipe_[1], &number, sizeof number), sizeof number); }
  int hear() {
    int number = 0;
    EXPECT_EQ(::read(pipe_[0], &number, sizeof number), sizeof number);
    return number;
  }
  void kill_process() {
    ::kill(process_, SIGKILL);
    reopen_after_kill();
  }
  /// Waits until the process has been killed, or has done so itself.
  void reopen_after_kill() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    for (const int end : pipe_) ::close(end);
    open(JournalBounds());
  }
  /// The process ends itself, which leaves no time for anything else.
  [[noreturn]] static void die() {
    ::kill(::getpid(), SIGKILL);
    std::abort();
  }

 private:
  std::array<int, 2> pipe_{};
  ::pid_t process_ = 0;
};

// Rule: JRN-1
TEST_F(JournalKillTest, submit_when_killed_right_after_the_answer_then_the_job_is_there) {
  for (int round = 1; round <= 20; ++round) {
    begin([&] {
      said(journal->submit(new_job(round)));
      die();
    });
    reopen_after_kill();
    EXPECT_TRUE(knows(round));
    journal.reset();
  }
}

// Rule: JRN-2
TEST_F(JournalKillTest, start_when_killed_right_after_the_answer_then_the_attempt_counts) {
  begin([&] {
    said(journal->submit(new_job(1)));
    said(journal->start(id_of(1), any_priority));
    die();
  });
  reopen_after_kill();
  EXPECT_EQ(state(1), StoredState::running);
  EXPECT_EQ(said(journal->reclaim([](Attempt) { return milliseconds(0); })).dead, 1U);
}

// Rule: JRN-8
TEST_F(JournalKillTest, complete_when_killed_at_any_time_then_followers_are_as_their_jobs_say) {
  for (int round = 0; round < 10; ++round) {
    const int first = 1000 * round + 1;
    begin([&] {
      for (int number = first;; number += 2) {
        said(journal->submit(new_job(number)));
        auto follower = new_job(number + 1);
        follower.after = id_of(number);
        said(journal->submit(std::move(follower)));
        const auto started = said(journal->start(id_of(number), any_priority));
        const auto answer = journal->complete(id_of(number), started->attempt, {});
        tell(number);
        said(answer);
      }
    });
    int last = first;
    for (int heard = 0; heard < 5 + round; ++heard) last = hear();
    kill_process();
    for (int number = first; number < last; number += 2) {
      EXPECT_EQ(state(number), StoredState::done);
      EXPECT_FALSE(find(number + 1).follows);
    }
    EXPECT_EQ(find(last + 1).follows, state(last) != StoredState::done);
    journal.reset();
  }
}

// Rule: JRN-1
TEST_F(JournalKillTest, work_when_killed_at_any_time_then_each_answer_holds) {
  for (int round = 0; round < 10; ++round) {
    const int first = 1000 * round + 1;
    begin([&] {
      for (int number = first;; ++number) {
        said(journal->submit(new_job(number)));
        const auto started = said(journal->start(id_of(number), any_priority));
        said(journal->complete(id_of(number), started->attempt,
                               {"", blocks(std::to_string(number))}));
        tell(number);
      }
    });
    int last = first;
    for (int heard = 0; heard < 5 + round; ++heard) last = hear();
    kill_process();
    for (int number = first; number <= last; ++number) {
      EXPECT_EQ(state(number), StoredState::done);
      EXPECT_EQ(result(number), std::to_string(number));
    }
    journal.reset();
  }
}

}  // namespace
}  // namespace heistd
