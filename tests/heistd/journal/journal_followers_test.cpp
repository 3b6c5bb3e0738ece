// Jobs that start after others, in every journal.
#include <gmock/gmock.h>

#include "journal_fixture.hpp"

namespace heistd {
namespace {

template <class Implementation>
class JournalFollowersTest : public JournalTest<Implementation> {
 protected:
  static NewJob follower(int number, int predecessor) {
    auto job = new_job(number);
    job.after = id_of(predecessor);
    return job;
  }
  JobJournal::Submitted submit_follower(int number, int predecessor) {
    return said(this->journal->submit(follower(number, predecessor)));
  }
  void expect_aborted_after(int number, int predecessor) {
    const auto job = this->find(number);
    EXPECT_EQ(job.state, StoredState::aborted);
    EXPECT_FALSE(job.follows);
    ASSERT_TRUE(job.error.has_value());
    EXPECT_EQ(job.error->code, "predecessor_failed");
    EXPECT_NE(job.error->message.find(id_of(predecessor)), std::string::npos);
  }
};
TYPED_TEST_SUITE(JournalFollowersTest, Journals);

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, complete_then_all_its_followers_may_start_and_not_before) {
  this->submit(new_job(1));
  for (const int number : {2, 3}) EXPECT_TRUE(this->submit_follower(number, 1).follows);
  EXPECT_TRUE(this->submit_follower(4, 2).follows);
  EXPECT_FALSE(said(this->journal->start(id_of(2), any_priority)));
  EXPECT_EQ(this->find(2).after, id_of(1));
  EXPECT_TRUE(this->find(2).follows);
  this->complete(1);
  EXPECT_FALSE(this->find(2).follows);
  EXPECT_EQ(this->find(2).after, id_of(1));
  EXPECT_FALSE(said(this->journal->start(id_of(4), any_priority)));
  for (const int number : {3, 2, 4}) this->complete(number);
  EXPECT_EQ(this->state(4), StoredState::done);
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, fail_then_its_followers_and_theirs_are_aborted_and_say_why) {
  this->submit(new_job(1));
  this->submit_follower(2, 1);
  this->submit_follower(3, 2);
  this->submit_follower(4, 1);
  this->submit(new_job(5));
  const auto ended =
      said(this->journal->fail(id_of(1), this->start(1), {"bad", "Bad."}, std::nullopt));
  EXPECT_EQ(ended.effect, Effect::stored);
  ASSERT_TRUE(ended.followers);
  EXPECT_EQ(ended.followers->client, "alice");
  EXPECT_THAT(ended.followers->ids, testing::UnorderedElementsAre(id_of(2), id_of(3), id_of(4)));
  this->expect_aborted_after(2, 1);
  this->expect_aborted_after(3, 2);
  this->expect_aborted_after(4, 1);
  EXPECT_EQ(this->state(5), StoredState::queued);
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, abort_or_death_then_its_followers_are_aborted) {
  this->submit(new_job(1));
  this->submit_follower(2, 1);
  this->abort(1);
  this->expect_aborted_after(2, 1);
  this->submit(new_job(3));
  this->submit_follower(4, 3);
  this->kill(3);
  ASSERT_EQ(this->state(3), StoredState::dead);
  this->expect_aborted_after(4, 3);
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, reclaim_when_that_kills_the_job_then_its_followers_are_aborted) {
  this->submit(new_job(1));
  this->submit_follower(2, 1);
  this->start(1);
  said(this->journal->reclaim([](Attempt) { return milliseconds(0); }));
  ASSERT_EQ(this->state(1), StoredState::dead);
  this->expect_aborted_after(2, 1);
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, drop_signal_then_followers_of_its_jobs_are_aborted) {
  auto job = new_job(1);
  job.signal_name = "night";
  this->submit(job);
  job = this->follower(2, 1);
  job.signal_name = "night";
  this->submit_follower(3, 1);
  EXPECT_TRUE(said(this->journal->submit(job)).follows);
  const auto ended = said(this->journal->drop_signal("alice", "night"));
  EXPECT_EQ(ended.followers->client, "alice");
  EXPECT_THAT(ended.followers->ids, testing::Contains(id_of(3)));
  EXPECT_EQ(this->state(2), StoredState::aborted);
  this->expect_aborted_after(3, 1);
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest,
           fail_when_another_attempt_follows_then_its_followers_wait_for_that) {
  auto job = new_job(1);
  job.max_attempts = 2;
  this->submit(job);
  this->submit_follower(2, 1);
  said(this->journal->fail(id_of(1), this->start(1), {"busy", "Busy."}, milliseconds(0)));
  EXPECT_TRUE(this->find(2).follows);
  const auto late = this->start(1) - 1;
  EXPECT_EQ(said(this->journal->complete(id_of(1), late, {})), Effect::late);
  EXPECT_TRUE(this->find(2).follows);
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, submit_when_the_other_job_has_ended_then_its_end_decides) {
  for (const int number : {1, 2, 3}) this->submit(new_job(number));
  this->complete(1);
  this->abort(2);
  this->kill(3);
  EXPECT_FALSE(this->submit_follower(11, 1).follows);
  EXPECT_EQ(this->find(11).after, id_of(1));
  this->start(11);
  for (const int failed : {2, 3}) {
    EXPECT_EQ(this->submit_follower(12, failed).acceptance, Acceptance::predecessor_failed);
  }
  EXPECT_FALSE(this->knows(12));
  said(this->journal->requeue(id_of(3)));
  EXPECT_TRUE(this->submit_follower(12, 3).follows);
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, submit_when_the_client_has_no_such_job_then_nothing_is_stored) {
  this->submit(new_job(1));
  auto job = this->follower(2, 1);
  job.client = "bob";
  job.key = {"key", "digest"};
  EXPECT_EQ(said(this->journal->submit(job)).acceptance, Acceptance::no_predecessor);
  job.after = id_of(7);
  const auto answers = said(this->journal->submit_all({job, new_job(3)}));
  EXPECT_EQ(answers[0].acceptance, Acceptance::no_predecessor);
  EXPECT_EQ(answers[1].acceptance, Acceptance::accepted);
  EXPECT_FALSE(this->knows(2));
  job.after.clear();
  EXPECT_EQ(said(this->journal->submit(job)).acceptance, Acceptance::accepted);
}

// Rule: JRN-4
TYPED_TEST(JournalFollowersTest,
           submit_when_its_key_stands_for_a_job_then_its_predecessor_is_not_looked_at) {
  this->submit(new_job(1));
  auto job = this->follower(2, 1);
  job.key = {"key", "digest"};
  EXPECT_EQ(said(this->journal->submit(job)).acceptance, Acceptance::accepted);
  this->complete(1);
  this->complete(2);
  said(this->journal->purge(id_of(1)));
  job.id = id_of(3);
  const auto again = said(this->journal->submit(job));
  EXPECT_EQ(again.acceptance, Acceptance::repeated);
  EXPECT_EQ(again.id, id_of(2));
}

TYPED_TEST(JournalFollowersTest, list_when_a_job_follows_another_one_then_it_is_delayed) {
  this->submit(new_job(1));
  this->submit_follower(2, 1);
  const auto ids_of = [this](JobState state) {
    std::vector<JobId> ids;
    const auto page = said(this->journal->list("alice", {.state = state}));
    for (const auto& job : page.jobs) ids.push_back(job.id);
    return ids;
  };
  EXPECT_EQ(ids_of(JobState::delayed), std::vector<JobId>{id_of(2)});
  EXPECT_EQ(ids_of(JobState::queued), std::vector<JobId>{id_of(1)});
  this->complete(1);
  EXPECT_EQ(ids_of(JobState::queued), std::vector<JobId>{id_of(2)});
}

// Rule: JRN-8
TYPED_TEST(JournalFollowersTest, abort_when_a_chain_is_long_then_all_of_it_is_aborted) {
  constexpr int jobs = 3000;
  std::vector<NewJob> chain{new_job(1)};
  for (int number = 2; number <= jobs; ++number) {
    chain.push_back(this->follower(number, number - 1));
  }
  said(this->journal->submit_all(std::move(chain)));
  this->abort(1);
  this->expect_aborted_after(jobs, jobs - 1);
  EXPECT_EQ(said(this->journal->count_unfinished()), 0U);
}

}  // namespace
}  // namespace heistd
