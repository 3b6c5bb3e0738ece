// Jobs whose attempts fail for a while, with a journal.
#include <gmock/gmock.h>

#include <heist/jobs.hpp>
#include <heistd/job_restore.hpp>
#include <jobs/handler_kind.hpp>
#include <utility>
#include <vector>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;
using testing::ElementsAre;

/// Jobs of the kind `own` fail as often as the test wants, and then give their upload.
class RetriedJobs : public KeptJobs {
 protected:
  RetriedJobs() {
    kinds.add(make_handler_kind(
        "own", [this](jobs::Job job) { return handle(std::move(job)); }, {},
        std::source_location::current()));
  }
  heist::Promise<jobs::Result> handle(jobs::Job job) {
    attempts.push_back(job.attempt());
    ids.push_back(job.id());
    if (failures_left > 0 && failures_left-- > 0) {
      throw jobs::Failure::transient("busy", "the other server is busy");
    }
    co_return job.read().value_or("");
  }
  /// The longest pause after the first attempts is over.
  void pass_pause() {
    loop.advance(std::chrono::seconds(10));
    run_kept();
  }
  Json described(const JobId& id) { return ask("GET", "/jobs/" + id).json(); }

  int failures_left = 0;
  std::vector<Attempt> attempts;
  std::vector<std::string> ids;
};

// Rule: JRN-2
TEST_F(RetriedJobs, attempt_when_it_fails_for_a_while_then_another_one_follows_after_a_pause) {
  failures_left = 2;
  const auto id = post_kept("/jobs/own?max_attempts=3");
  run_kept();
  EXPECT_EQ(stored(id).state, StoredState::queued);
  EXPECT_GE(stored(id).delay.count(), 500);
  const auto waits = described(id);
  EXPECT_EQ(waits["state"], "delayed");
  EXPECT_EQ(waits["attempts"], 1);
  EXPECT_EQ(waits["max_attempts"], 3);
  EXPECT_EQ(waits["last_error"]["code"], "busy");
  EXPECT_EQ(waits["last_error"]["message"], "the other server is busy");
  pass_pause();
  pass_pause();
  EXPECT_EQ(state_of(id), "done");
  EXPECT_FALSE(described(id).contains("last_error"));
  EXPECT_EQ(ask("GET", "/jobs/" + id + "/result").body, "bytes");
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3));
  EXPECT_THAT(ids, ElementsAre(id, id, id));
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
  const auto& stats = anonymous.stats_of(heist::TaskPriority::user_visible);
  EXPECT_EQ(stats.retried, 2U);
  EXPECT_EQ(stats.failed, 0U);
}

// Rule: JRN-2
TEST_F(RetriedJobs, attempt_when_it_was_the_last_then_the_job_is_dead_and_whoever_waits_hears_why) {
  failures_left = 2;
  const auto outcome = begin("POST", "/jobs/own?max_attempts=2&wait=1", "bytes");
  run_network();
  const auto step = std::get<Storing>(outcome).then();
  const auto& job = *std::get<Waiting>(step).job;
  run_kept();
  EXPECT_FALSE(job.finished());
  pass_pause();
  ASSERT_TRUE(job.finished());
  const auto reply = answer(kept_api.waited(job));
  EXPECT_EQ(reply.status, 422U);
  EXPECT_EQ(reply.error(), "busy");
  const auto dead = described(job.id);
  EXPECT_EQ(dead["state"], "dead");
  EXPECT_EQ(dead["attempts"], 2);
  EXPECT_EQ(dead["error"]["code"], "busy");
  EXPECT_EQ(stored(job.id).state, StoredState::dead);
  const auto& stats = anonymous.stats_of(heist::TaskPriority::user_visible);
  EXPECT_EQ(stats.dead, 1U);
  EXPECT_EQ(stats.failed, 0U);
}

TEST_F(RetriedJobs, abort_when_the_job_waits_for_its_next_attempt_then_that_never_comes) {
  failures_left = 1;
  const auto id = post_kept("/jobs/own");
  run_kept();
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "aborted");
  EXPECT_EQ(stored(id).state, StoredState::aborted);
  pass_pause();
  EXPECT_THAT(attempts, ElementsAre(1));
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(RetriedJobs, drop_when_the_journal_is_told_of_a_failed_attempt_then_no_other_one_follows) {
  failures_left = 1;
  const auto outcome = begin("POST", "/jobs/own?wait=1", "bytes");
  run_network();
  const auto step = std::get<Storing>(outcome).then();
  const auto id = std::get<Waiting>(step).job->id;
  run_to_its_end(id);
  while (stored(id).state == StoredState::running) ASSERT_TRUE(step_network());
  journal.fails = 1;
  kept_api.drop(std::get<Waiting>(step));
  pass_pause();
  EXPECT_EQ(stored(id).state, StoredState::queued);
  while (stored(id).state != StoredState::aborted) run_network();
  pass_pause();
  EXPECT_EQ(state_of(id), "aborted");
  EXPECT_THAT(attempts, ElementsAre(1));
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(RetriedJobs, end_of_the_server_when_a_job_waits_for_its_next_attempt_then_it_is_kept) {
  failures_left = 1;
  const auto id = post_kept("/jobs/own?max_attempts=2");
  run_kept();
  kept.start_shutdown();
  while (kept.abort_some(clients, "the test") > 0) {
  }
  EXPECT_EQ(stored(id).state, StoredState::queued);
  EXPECT_EQ(stored(id).attempt, 1U);
  EXPECT_EQ(stored(id).forgiven, 0U);
}

TEST_F(RetriedJobs, end_of_the_server_when_an_attempt_fails_then_the_next_server_goes_on) {
  failures_left = 1;
  const auto id = post_kept("/jobs/own");
  loop.run_until_idle();
  run_network();
  kept.start_shutdown();
  run_kept();
  pass_pause();
  EXPECT_THAT(attempts, ElementsAre(1));
  EXPECT_EQ(stored(id).state, StoredState::queued);
  EXPECT_EQ(keeper.under_way(), 0U);
}

TEST_F(RetriedJobs,
       signal_when_it_changes_while_a_job_waits_then_the_next_attempt_has_its_priority) {
  failures_left = 1;
  const auto id = post_kept("/jobs/own?signal=night");
  run_kept();
  ask("PUT", "/signals/night?priority=background");
  EXPECT_EQ(anonymous.depths().at(0).delayed, 1U);
  pass_pause();
  EXPECT_EQ(state_of(id), "done");
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::background).done, 1U);
}

TEST_F(RetriedJobs, attempt_when_it_was_the_last_and_the_journal_has_no_room_then_the_job_is_dead) {
  failures_left = 1;
  journal.forgets_dead = true;
  const auto id = post_kept("/jobs/own?max_attempts=1");
  run_kept();
  EXPECT_EQ(said(journal.find(id)), std::nullopt);
  EXPECT_EQ(state_of(id), "dead");
  EXPECT_EQ(described(id)["error"]["code"], "busy");
  const auto& stats = anonymous.stats_of(heist::TaskPriority::user_visible);
  EXPECT_EQ(stats.dead, 1U);
  EXPECT_EQ(stats.aborted, 0U);
}

TEST_F(RetriedJobs, attempt_when_moved_while_it_runs_then_its_death_counts_where_it_started) {
  failures_left = 1;
  const auto id = post_kept("/jobs/own?max_attempts=1&priority=background");
  run_to_its_end(id);
  kept.set_priority(anonymous, *anonymous.jobs.find(id), heist::TaskPriority::user_blocking);
  run_kept();
  EXPECT_EQ(state_of(id), "dead");
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::background).dead, 1U);
}

TEST_F(RetriedJobs, restore_when_more_have_died_than_memory_keeps_then_all_count) {
  const auto ids = post_many(limits.max_results + 2, "/jobs/digest?max_attempts=1");
  for (const auto& id : ids) said(journal.start(id, any_priority));
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  auto& other = **others.authenticate(std::nullopt);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, others, kinds).dead, ids.size());
  EXPECT_EQ(other.stats_of(heist::TaskPriority::user_visible).dead, ids.size());
}

TEST_F(RetriedJobs, restore_when_jobs_of_a_signal_have_died_then_they_count_at_its_priority) {
  ask("PUT", "/signals/put?priority=background");
  const std::vector<std::string> signals{"put", "mentioned", "left"};
  for (const auto number : {1, 2, 3}) {
    auto job = new_job(number);
    job.client = anonymous.name;
    job.signal_name = signals.at(static_cast<std::size_t>(number - 1));
    job.signal_priority = heist::TaskPriority::background;
    job.priority.reset();
    if (number == 3) job.kind = "unknown";
    said(journal.submit(std::move(job)));
    if (number < 3) said(journal.start(id_of(number), any_priority));
  }
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  auto& other = **others.authenticate(std::nullopt);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, others, kinds).dead, 2U);
  EXPECT_EQ(other.stats_of(heist::TaskPriority::background).dead, 2U);
  for (const auto number : {1, 2}) {
    EXPECT_EQ(other.jobs.find(id_of(number))->priority(), heist::TaskPriority::background);
  }
  EXPECT_NE(other.signals.find("put"), nullptr);
  EXPECT_EQ(other.signals.find("mentioned"), nullptr) << "no unfinished job has it";
  EXPECT_NE(other.signals.find("left"), nullptr) << "a job has it that waits for another server";
}

TEST_F(RetriedJobs, restore_then_dead_jobs_are_dead_and_a_waiting_one_has_its_last_error) {
  failures_left = 2;
  const auto dead = post_kept("/jobs/own?max_attempts=1");
  const auto waits = post_kept("/jobs/own");
  run_kept();
  const auto lost = post_kept("/jobs/own?max_attempts=1&priority=background");
  run_to_its_end(lost);
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  auto& other = **others.authenticate(std::nullopt);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  const auto restored = restore_jobs(next, others, kinds);
  EXPECT_EQ(restored.finished, 2U);
  EXPECT_EQ(other.jobs.find(dead)->state(), JobState::dead);
  EXPECT_EQ(other.jobs.find(dead)->end().failure->code(), "busy");
  EXPECT_EQ(other.jobs.find(dead)->attempts.counted(), 1U);
  EXPECT_EQ(other.jobs.find(lost)->end().failure->code(), "attempt_lost");
  EXPECT_EQ(other.stats_of(heist::TaskPriority::user_visible).dead, 0U) << "that died before";
  EXPECT_EQ(other.stats_of(heist::TaskPriority::background).dead, 1U);
  EXPECT_EQ(other.waiting.find(waits)->state, WaitingJob::State::delayed);
  other.waiting.wake_some(Clock::now() + std::chrono::minutes(1));
  next.post_waiting(other);
  run_network();
  EXPECT_EQ(other.jobs.find(waits)->unfinished->last_failure->code(), "busy");
}

}  // namespace
}  // namespace heistd
