// What every journal does: one suite for all implementations.
#include "journal_fixture.hpp"

namespace heistd {
namespace {

template <class Implementation>
class JobJournalTest : public JournalTest<Implementation> {};
TYPED_TEST_SUITE(JobJournalTest, Journals);

TYPED_TEST(JobJournalTest, submit_then_all_that_was_given_is_kept) {
  auto job = new_job(1, "some bytes");
  job.kind = "search";
  job.parameters = {{"pattern", "a:b"}, {"", ""}, {"nul", std::string("\0x", 2)}};
  job.signal_name = "night";
  job.priority.reset();
  job.max_attempts = 7;
  job.key = {"key", "digest"};
  this->submit(job);
  const auto stored = this->find(1);
  EXPECT_EQ(stored.id, job.id);
  EXPECT_EQ(stored.client, "alice");
  EXPECT_EQ(stored.kind, "search");
  EXPECT_EQ(stored.parameters, job.parameters);
  EXPECT_EQ(stored.signal_name, "night");
  EXPECT_EQ(stored.priority, std::nullopt);
  EXPECT_EQ(stored.max_attempts, 7U);
  EXPECT_EQ(stored.attempt, 0U);
  EXPECT_EQ(stored.state, StoredState::queued);
  EXPECT_EQ(stored.key->key, "key");
  EXPECT_EQ(stored.key->digest, "digest");
  EXPECT_EQ(stored.payload_bytes, 10U);
  EXPECT_EQ(stored.ended_at, std::nullopt);
  EXPECT_EQ(this->payload(1), "some bytes");
}

// Rule: JRN-1
TYPED_TEST(JobJournalTest, submit_all_then_they_are_accepted_in_their_order) {
  auto keyed = new_job(3);
  keyed.key = {"key", "digest"};
  auto same = keyed;
  same.id = id_of(4);
  auto other = keyed;
  other.id = id_of(5);
  other.key->digest = "other";
  const auto answers = said(this->journal->submit_all(
      {new_job(2, "two"), new_job(1), std::move(keyed), std::move(same), std::move(other)}));
  ASSERT_EQ(answers.size(), 5U);
  for (const std::size_t index : {0U, 1U, 2U})
    EXPECT_EQ(answers[index].acceptance, Acceptance::accepted);
  EXPECT_EQ(answers[3].acceptance, Acceptance::repeated);
  EXPECT_EQ(answers[3].id, id_of(3));
  EXPECT_EQ(answers[4].acceptance, Acceptance::conflicting);
  EXPECT_EQ(this->unfinished(), (std::vector<JobId>{id_of(2), id_of(1), id_of(3)}));
  EXPECT_EQ(this->payload(2), "two");
}

// Rule: JRN-6
TYPED_TEST(JobJournalTest, ttl_then_what_is_left_of_it_is_told_until_the_first_start) {
  auto job = new_job(1);
  job.ttl = milliseconds(500);
  job.timeout = milliseconds(70);
  job.request_id = "from-a-client";
  this->submit(job);
  this->now += milliseconds(200);
  EXPECT_EQ(this->find(1).ttl, milliseconds(300));
  EXPECT_EQ(said(this->journal->load_unfinished(0, 1)).front().ttl, milliseconds(300));
  this->now += milliseconds(400);
  EXPECT_EQ(this->find(1).ttl, milliseconds(0));
  said(this->journal->release(id_of(1), this->start(1)));
  EXPECT_EQ(this->find(1).ttl, std::nullopt);
  EXPECT_EQ(this->find(1).timeout, milliseconds(70));
  EXPECT_EQ(this->find(1).request_id, "from-a-client");
}

TYPED_TEST(JobJournalTest, submit_when_the_job_has_a_priority_then_it_is_kept) {
  auto job = new_job(1);
  job.priority = heist::TaskPriority::background;
  this->submit(job);
  EXPECT_EQ(this->find(1).priority, heist::TaskPriority::background);
  EXPECT_EQ(this->find(1).signal_name, "");
}

TYPED_TEST(JobJournalTest, set_priority_when_an_unfinished_job_has_its_own_then_it_is_kept) {
  this->submit(new_job(1));
  const auto set = [this](int number) {
    return said(this->journal->set_priority(id_of(number), heist::TaskPriority::background));
  };
  EXPECT_EQ(set(1), Effect::stored);
  EXPECT_EQ(this->find(1).priority, heist::TaskPriority::background);
  auto follows = new_job(2);
  follows.signal_name = "night";
  follows.priority.reset();
  this->submit(std::move(follows));
  EXPECT_EQ(set(2), Effect::late);
  EXPECT_EQ(this->find(2).priority, std::nullopt);
  this->submit(new_job(3));
  this->complete(3);
  EXPECT_EQ(set(3), Effect::late);
  EXPECT_EQ(set(4), Effect::late);
}

TYPED_TEST(JobJournalTest, submit_when_there_are_no_bytes_then_none_are_read) {
  auto job = new_job(1);
  job.payload.reset();
  this->submit(job);
  EXPECT_EQ(this->find(1).payload_bytes, 0U);
  EXPECT_EQ(this->payload(1), "");
}

TYPED_TEST(JobJournalTest, find_when_there_is_no_such_job_then_nothing) {
  EXPECT_FALSE(this->knows(1));
  EXPECT_EQ(this->payload(1), "");
  EXPECT_EQ(this->result(1), "");
}

TYPED_TEST(JobJournalTest, find_when_a_part_of_the_delay_is_over_then_the_rest_is_left) {
  auto job = new_job(1);
  job.delay = milliseconds(1000);
  this->submit(job);
  EXPECT_EQ(this->find(1).delay, milliseconds(1000));
  this->now += milliseconds(400);
  EXPECT_EQ(this->find(1).delay, milliseconds(600));
  this->now += milliseconds(800);
  EXPECT_EQ(this->find(1).delay, milliseconds(0));
}

TYPED_TEST(JobJournalTest, load_unfinished_then_jobs_come_in_the_order_of_acceptance) {
  for (const int number : {5, 3, 8, 1}) this->submit(new_job(number));
  this->complete(3);
  this->start(1);
  EXPECT_EQ(said(this->journal->count_unfinished()), 3U);
  EXPECT_EQ(this->unfinished(), (std::vector{id_of(5), id_of(8), id_of(1)}));
}

TYPED_TEST(JobJournalTest, load_unfinished_when_asked_for_a_part_then_the_next_begins_behind_it) {
  for (int number = 1; number <= 5; ++number) this->submit(new_job(number));
  const auto part = said(this->journal->load_unfinished(0, 2));
  ASSERT_EQ(part.size(), 2U);
  EXPECT_EQ(this->unfinished(part.back().order, 2), (std::vector{id_of(3), id_of(4)}));
  EXPECT_TRUE(this->unfinished(this->find(5).order).empty());
}

// Rule: JRN-2
TYPED_TEST(JobJournalTest, start_then_the_job_runs_and_the_attempt_counts) {
  this->submit(new_job(1));
  EXPECT_EQ(this->start(1), 1U);
  EXPECT_EQ(this->state(1), StoredState::running);
  EXPECT_EQ(this->find(1).attempt, 1U);
}

// Rule: JRN-2
TYPED_TEST(JobJournalTest, start_then_the_first_bytes_of_the_payload_come_and_the_rest_is_read) {
  auto job = new_job(1);
  const std::string payload = std::string(block_bytes, 'a') + "b";
  job.payload = blocks(payload);
  this->submit(std::move(job));
  const auto started = said(this->journal->start(id_of(1), any_priority));
  ASSERT_TRUE(started);
  const ByteRange rest{started->block.size(), payload.size()};
  EXPECT_FALSE(started->block.empty());
  EXPECT_EQ(started->block + said(this->journal->read_payload(id_of(1), rest)), payload);
}

TYPED_TEST(JobJournalTest, start_when_the_job_has_no_payload_then_nothing_comes) {
  auto job = new_job(1);
  job.payload = nullptr;
  this->submit(std::move(job));
  EXPECT_EQ(said(this->journal->start(id_of(1), any_priority))->block, "");
}

TYPED_TEST(JobJournalTest, start_when_the_job_is_not_queued_then_nothing) {
  EXPECT_FALSE(said(this->journal->start(id_of(1), any_priority)));
  this->submit(new_job(1));
  this->start(1);
  EXPECT_FALSE(said(this->journal->start(id_of(1), any_priority)));
  EXPECT_EQ(this->find(1).attempt, 1U);
  this->submit(new_job(2));
  this->abort(2);
  EXPECT_FALSE(said(this->journal->start(id_of(2), any_priority)));
}

TYPED_TEST(JobJournalTest, complete_then_the_job_is_done_and_has_its_result) {
  this->submit(new_job(1));
  this->complete(1, "the result");
  const auto job = this->find(1);
  EXPECT_EQ(job.state, StoredState::done);
  EXPECT_EQ(job.result_description, "text");
  EXPECT_EQ(job.result_bytes, 10U);
  EXPECT_EQ(job.ended_at, this->now);
  EXPECT_EQ(this->result(1), "the result");
  EXPECT_EQ(this->payload(1), "");
}

// Rule: JRN-2, JRN-3
TYPED_TEST(JobJournalTest, complete_when_the_attempt_is_an_old_one_then_it_is_late_and_counted) {
  auto job = new_job(1);
  job.max_attempts = 2;
  this->submit(job);
  const auto first = this->start(1);
  said(this->journal->reclaim([](Attempt) { return milliseconds(0); }));
  const auto second = this->start(1);
  EXPECT_EQ(said(this->journal->complete(id_of(1), first, {"late", blocks("late")})), Effect::late);
  EXPECT_EQ(this->journal->late_ends(), 1U);
  EXPECT_EQ(this->state(1), StoredState::running);
  EXPECT_EQ(said(this->journal->complete(id_of(1), second, {"right", blocks("right")})),
            Effect::stored);
  EXPECT_EQ(this->result(1), "right");
}

// Rule: JRN-3
TYPED_TEST(JobJournalTest, complete_when_the_job_has_ended_then_its_result_stays) {
  this->submit(new_job(1));
  this->complete(1, "first");
  EXPECT_EQ(said(this->journal->complete(id_of(1), 1, {"other", blocks("other")})), Effect::late);
  EXPECT_EQ(this->journal->late_ends(), 1U);
  EXPECT_EQ(this->find(1).result_description, "text");
  EXPECT_EQ(this->result(1), "first");
}

// Rule: JRN-3
TYPED_TEST(JobJournalTest, complete_when_the_job_was_aborted_then_it_has_no_result) {
  this->submit(new_job(1));
  const auto attempt = this->start(1);
  EXPECT_EQ(this->abort(1), Effect::stored);
  EXPECT_EQ(this->find(1).error->message, "the test");
  EXPECT_EQ(said(this->journal->complete(id_of(1), attempt, {"text", blocks("late")})),
            Effect::late);
  EXPECT_EQ(this->state(1), StoredState::aborted);
  EXPECT_EQ(this->result(1), "");
}

TYPED_TEST(JobJournalTest, fail_when_there_is_to_be_no_other_attempt_then_the_job_has_failed) {
  this->submit(new_job(1));
  const auto attempt = this->start(1);
  EXPECT_EQ(said(this->journal->fail(id_of(1), attempt, {"bad_pattern", "No."}, std::nullopt)),
            Effect::stored);
  const auto job = this->find(1);
  EXPECT_EQ(job.state, StoredState::failed);
  EXPECT_EQ(job.error->code, "bad_pattern");
  EXPECT_EQ(job.error->message, "No.");
  EXPECT_EQ(job.ended_at, this->now);
}

TYPED_TEST(JobJournalTest, fail_when_attempts_are_left_then_the_job_waits_for_the_next) {
  auto job = new_job(1);
  job.max_attempts = 2;
  this->submit(job);
  const auto attempt = this->start(1);
  said(this->journal->fail(id_of(1), attempt, {"broken", "It broke."}, milliseconds(50)));
  EXPECT_EQ(this->state(1), StoredState::queued);
  EXPECT_EQ(this->find(1).delay, milliseconds(50));
  EXPECT_EQ(this->find(1).error->code, "broken");
  EXPECT_EQ(this->payload(1), "bytes");
  EXPECT_EQ(this->start(1), 2U);
}

// Rule: JRN-2
TYPED_TEST(JobJournalTest, fail_when_it_was_the_last_attempt_then_the_job_is_dead) {
  this->submit(new_job(1));
  this->kill(1);
  EXPECT_EQ(this->state(1), StoredState::dead);
  EXPECT_EQ(this->payload(1), "bytes");
  EXPECT_FALSE(said(this->journal->start(id_of(1), any_priority)));
}

TYPED_TEST(JobJournalTest, fail_when_a_later_attempt_succeeds_then_no_error_is_left) {
  auto job = new_job(1);
  job.max_attempts = 2;
  this->submit(job);
  this->kill(1);
  this->complete(1);
  EXPECT_FALSE(this->find(1).error.has_value());
}

// Rule: JRN-2
TYPED_TEST(JobJournalTest, release_then_the_attempt_does_not_count_and_its_number_is_used_up) {
  this->submit(new_job(1));
  this->submit(new_job(2));
  const auto released = this->start(1);
  EXPECT_EQ(said(this->journal->release(id_of(1), released)), Effect::stored);
  EXPECT_EQ(this->unfinished(), (std::vector{id_of(1), id_of(2)}));
  const auto attempt = this->start(1);
  EXPECT_EQ(said(this->journal->complete(id_of(1), released, {})), Effect::late);
  said(this->journal->fail(id_of(1), attempt, {"broken", "It broke."}, milliseconds(0)));
  EXPECT_EQ(this->state(1), StoredState::dead);
}

// Rule: JRN-2
TYPED_TEST(JobJournalTest, reclaim_then_running_jobs_are_queued_or_dead) {
  auto patient = new_job(1);
  patient.max_attempts = 2;
  this->submit(patient);
  for (const int number : {2, 3}) this->submit(new_job(number));
  this->start(1);
  this->start(2);
  const auto reclaimed =
      said(this->journal->reclaim([](Attempt attempts) { return milliseconds(70) * attempts; }));
  EXPECT_EQ(reclaimed.queued, 1U);
  EXPECT_EQ(reclaimed.dead, 1U);
  EXPECT_EQ(this->state(1), StoredState::queued);
  EXPECT_EQ(this->find(1).delay, milliseconds(70));
  EXPECT_EQ(this->state(2), StoredState::dead);
  EXPECT_EQ(this->find(2).error->code, "attempt_lost");
  EXPECT_EQ(this->state(3), StoredState::queued);
  EXPECT_EQ(this->find(3).error, std::nullopt);
}

TYPED_TEST(JobJournalTest, requeue_then_a_dead_job_has_all_its_attempts_again) {
  auto job = new_job(1);
  job.max_attempts = 2;
  this->submit(job);
  this->kill(1);
  this->kill(1);
  EXPECT_EQ(said(this->journal->requeue(id_of(1))), Effect::stored);
  EXPECT_EQ(this->state(1), StoredState::queued);
  EXPECT_EQ(this->find(1).ended_at, std::nullopt);
  this->kill(1);
  EXPECT_EQ(this->state(1), StoredState::queued);
  this->kill(1);
  EXPECT_EQ(this->state(1), StoredState::dead);
}

TYPED_TEST(JobJournalTest, requeue_when_the_job_is_not_dead_then_late) {
  this->submit(new_job(1));
  EXPECT_EQ(said(this->journal->requeue(id_of(1))), Effect::late);
  EXPECT_EQ(said(this->journal->requeue(id_of(2))), Effect::late);
}

TYPED_TEST(JobJournalTest, purge_then_nothing_of_a_finished_job_is_left) {
  this->submit(new_job(1));
  EXPECT_EQ(said(this->journal->purge(id_of(1))), Effect::late);
  this->complete(1);
  EXPECT_EQ(said(this->journal->purge(id_of(1))), Effect::stored);
  EXPECT_FALSE(this->knows(1));
  EXPECT_EQ(this->result(1), "");
}

TYPED_TEST(JobJournalTest, abort_when_the_job_has_ended_then_late) {
  this->submit(new_job(1));
  this->complete(1);
  EXPECT_EQ(this->abort(1), Effect::late);
  EXPECT_EQ(this->abort(2), Effect::late);
  EXPECT_EQ(this->state(1), StoredState::done);
}

TYPED_TEST(JobJournalTest, load_ended_then_a_client_s_finished_jobs_come_the_latest_end_first) {
  for (const int number : {1, 2, 3, 4, 5}) {
    auto job = new_job(number);
    if (number == 5) job.client = "bob";
    this->submit(std::move(job));
  }
  for (const int number : {3, 1, 5, 2}) {
    this->now += milliseconds(1);
    number == 1 ? this->kill(number) : this->complete(number);
  }
  const auto first = said(this->journal->load_ended("alice", {}, 2));
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].id, id_of(2));
  EXPECT_EQ(first[1].id, id_of(1));
  EXPECT_EQ(first[1].error->code, "broken");
  const auto next =
      said(this->journal->load_ended("alice", {*first[1].ended_at, first[1].order}, 2));
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].id, id_of(3));
}

TYPED_TEST(JobJournalTest, load_ended_when_jobs_have_ended_at_one_time_then_each_comes_once) {
  for (const int number : {1, 2, 3}) {
    this->submit(new_job(number));
    this->complete(number);
  }
  std::vector<JobId> found;
  JobJournal::EndPlace before;
  for (;;) {
    const auto jobs = said(this->journal->load_ended("alice", before, 1));
    if (jobs.empty()) break;
    found.push_back(jobs[0].id);
    before = {*jobs[0].ended_at, jobs[0].order};
  }
  EXPECT_EQ(found, (std::vector{id_of(3), id_of(2), id_of(1)}));
}

}  // namespace
}  // namespace heistd
