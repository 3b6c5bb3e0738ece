// How long jobs may wait for their start, and how long they may run, with a journal.
#include <heist/jobs.hpp>
#include <heistd/waiting_jobs.hpp>
#include <jobs/handler_kind.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;

/// Attempts of the kind `own` wait for ever, but for the first one if it is to fail for a while.
class KeptTimes : public KeptJobs {
 protected:
  KeptTimes() {
    kinds.add(make_handler_kind(
        "own", [this](jobs::Job job) { return handle(std::move(job)); }, {},
        std::source_location::current()));
  }
  ~KeptTimes() override { never.resolver.resolve(); }  // it is not to be dropped
  KeptTimes(const KeptTimes&) = delete;
  KeptTimes& operator=(const KeptTimes&) = delete;

  heist::Promise<jobs::Result> handle(jobs::Job job) {
    if (first_fails && job.attempt() == 1) throw jobs::Failure::transient("busy", "not now");
    co_await never.promise;
    co_return "";
  }
  void run_until(const JobId& id, StoredState state) {
    while (stored(id).state != state) run_all();
  }
  bool waits(const JobId& id) { return anonymous.waiting.find(id) != nullptr; }

  bool first_fails = false;
  heist::PromiseWithResolver<void> never = heist::Promise<void>::with_resolver();
};

// Rule: JRN-6
TEST_F(KeptTimes, ttl_when_a_posted_job_has_not_started_by_then_then_the_journal_says_why) {
  const auto id = post_kept("/jobs/digest?ttl=1");
  while (stored(id).state == StoredState::queued) run_network();
  EXPECT_EQ(stored(id).state, StoredState::aborted);
  EXPECT_EQ(stored(id).error->code, "expired");
  EXPECT_EQ(ask("GET", "/jobs/" + id).json()["error"]["code"], "expired");
  run_kept();
  EXPECT_EQ(stored(id).attempt, 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-6
TEST_F(KeptTimes, ttl_when_the_job_waits_for_its_turn_then_it_expires_there_and_others_do_not) {
  post_many(WaitingJobs::most_posted + 1, "/jobs/digest");
  const auto id = post_kept("/jobs/digest?ttl=1");
  const auto patient = post_kept("/jobs/digest?ttl=86400000");
  ASSERT_TRUE(waits(patient));
  while (waits(id)) run_network();
  EXPECT_EQ(stored(id).state, StoredState::aborted);
  EXPECT_EQ(stored(id).error->code, "expired");
  EXPECT_TRUE(waits(patient));
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_visible).aborted, 1U);
  run_until(patient, StoredState::done);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-6
TEST_F(KeptTimes, ttl_when_somebody_waits_for_a_job_without_a_turn_then_they_hear_that_it_expired) {
  post_many(WaitingJobs::most_posted + 1, "/jobs/digest");
  const auto outcome = begin("POST", "/jobs/digest?ttl=1&wait=1", "bytes");
  run_network();
  const auto waiting = std::get<Waiting>(std::get<Storing>(outcome).then());
  while (!waiting.job->finished()) run_network();
  EXPECT_EQ(waiting.job->end().failure->code(), "expired");
  EXPECT_FALSE(waits(waiting.job->id));
}

// Rule: JRN-6
TEST_F(KeptTimes, ttl_when_it_is_over_at_the_next_start_then_the_job_never_starts) {
  auto job = StoredJob();
  job.id = std::string(32, 'a');
  job.kind = "digest";
  job.ttl = std::chrono::milliseconds(0);
  kept.restore(anonymous, *kinds.find("digest"), job);
  kept.post_waiting(anonymous);
  run_kept();
  EXPECT_FALSE(waits(job.id));
  EXPECT_EQ(anonymous.jobs.find(job.id), nullptr);
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_visible).aborted, 1U);
}

// Rule: JRN-3
TEST_F(KeptTimes, ttl_when_the_disk_is_full_then_nobody_sees_the_end_before_the_journal_has_it) {
  journal.fails = 1;
  const auto id = post_kept("/jobs/digest?ttl=1");
  while (journal.fails > 0) run_network();
  run_kept();
  EXPECT_EQ(stored(id).state, StoredState::queued);
  EXPECT_EQ(state_of(id), "queued");
  while (stored(id).state != StoredState::aborted) run_network();
  run_network();
  EXPECT_EQ(ask("GET", "/jobs/" + id).json()["error"]["code"], "expired");
  EXPECT_EQ(stored(id).attempt, 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(KeptTimes, drop_when_the_disk_is_full_then_others_take_the_place_of_the_job_that_ran) {
  clients.renew({std::get<ClientSpec>(parse_client_spec("anonymous running=1"))});
  const auto id = post_kept("/jobs/own");
  const auto other = post_kept("/jobs/digest");
  run_until(id, StoredState::running);
  run_kept();
  EXPECT_EQ(stored(other).attempt, 0U);
  journal.fails = 1;
  kept.give_up(anonymous, *anonymous.jobs.find(id), "the test");
  run_kept();
  EXPECT_EQ(stored(other).state, StoredState::done);
  EXPECT_EQ(stored(id).state, StoredState::running);
  run_until(id, StoredState::aborted);
  EXPECT_EQ(anonymous.run_places.taken(), 0U);
}

/// Also of jobs that start at once.
class KeptTimeouts : public KeptTimes, public testing::WithParamInterface<bool> {
 protected:
  KeptTimeouts() { journal.starts_at_once = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(AtOnce, KeptTimeouts, testing::Bool());

// Rule: JRN-6
TEST_P(KeptTimeouts, timeout_when_an_attempt_takes_longer_then_no_other_one_follows) {
  const auto id = post_kept("/jobs/own?timeout=1&max_attempts=3");
  run_until(id, StoredState::failed);
  EXPECT_EQ(stored(id).attempt, 1U);
  EXPECT_EQ(stored(id).error->code, "job_timeout");
  run_network();
  EXPECT_EQ(state_of(id), "failed");
  never.resolver.resolve();
  run_kept();
  EXPECT_EQ(state_of(id), "failed");
  EXPECT_EQ(journal.late_ends(), 0U);
}

// Rule: JRN-6
TEST_P(KeptTimeouts, timeout_when_another_attempt_follows_then_it_has_a_time_of_its_own) {
  first_fails = true;
  const auto id = post_kept("/jobs/own?timeout=1&ttl=86400000");
  run_kept();
  EXPECT_EQ(stored(id).timeout, std::chrono::milliseconds(1));
  EXPECT_EQ(stored(id).ttl, std::nullopt);
  EXPECT_FALSE(ask("GET", "/jobs/" + id).json().contains("expires_in_ms"));
  loop.advance(std::chrono::seconds(10));
  run_until(id, StoredState::failed);
  EXPECT_EQ(stored(id).attempt, 2U);
}

}  // namespace
}  // namespace heistd
