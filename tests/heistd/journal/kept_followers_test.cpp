// Jobs that start after others, with a journal.
#include <heistd/waiting_jobs.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heistd/no_memory.hpp"
#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

class KeptFollowers : public KeptJobs {
 protected:
  JobId after(const JobId& id, const std::string& query = {}) {
    return post_kept("/jobs/digest?after=" + id + query);
  }
  bool follows(const JobId& id) { return anonymous.waiting.is_following(id); }
  std::string error_of(const JobId& id) {
    return ask("GET", "/jobs/" + id).json()["error"]["code"];
  }
  /// What a server knows of its jobs that starts with this journal when all delays are over.
  void restart() {
    for (auto& job : said(journal.load_unfinished(0, 100))) {
      job.delay = {};
      kept.restore(anonymous, *kinds.find(job.kind), job);
    }
    kept.post_waiting(anonymous);
  }
  /// As in a server that does not know the job's kind: only the journal has it.
  void leave_to_journal(const JobId& id) { anonymous.waiting.remove(id); }
};

// Rule: JRN-8
TEST_F(KeptFollowers, after_when_the_other_job_is_done_then_its_followers_run) {
  const auto first = post_kept("/jobs/digest");
  const auto second = after(first);
  const auto third = after(second);
  EXPECT_EQ(state_of(second), "delayed");
  EXPECT_EQ(ask("GET", "/jobs/" + second).json()["after"], first);
  EXPECT_TRUE(follows(second));
  EXPECT_EQ(anonymous.depths().at(1).delayed, 2U);
  run_kept();
  EXPECT_EQ(state_of(third), "done");
  EXPECT_EQ(stored(third).attempt, 1U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

// Rule: JRN-8
TEST_F(KeptFollowers, after_when_the_journal_has_not_heard_of_the_end_then_no_follower_starts) {
  const auto first = post_kept("/jobs/digest");
  const auto second = after(first);
  run_to_its_end(first);
  EXPECT_TRUE(stored(second).follows);
  EXPECT_TRUE(follows(second));
  run_kept();
  EXPECT_EQ(state_of(second), "done");
}

// Rule: JRN-8
TEST_F(KeptFollowers, after_when_the_other_job_fails_then_whoever_waits_hears_that_it_was_aborted) {
  const auto first = post_kept("/jobs/search?pattern=a");
  const auto second = after(first);
  const auto outcome = begin("POST", "/jobs/digest?wait=1&after=" + second, "bytes");
  run_network();
  const auto waiting = std::get<Waiting>(std::get<Storing>(outcome).then());
  EXPECT_EQ(waiting.job->state(), JobState::delayed);
  ask("DELETE", "/jobs/" + first);
  run_kept();
  EXPECT_EQ(error_of(second), "predecessor_failed");
  ASSERT_TRUE(waiting.job->finished());
  EXPECT_EQ(waiting.job->end().failure->code(), "predecessor_failed");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_visible).aborted, 3U);
}

// Rule: JRN-3
TEST_F(KeptFollowers, end_when_memory_is_missing_as_the_journal_has_it_then_it_is_told_so) {
  const auto first = post_kept("/jobs/digest?delay=86400000");
  const auto second = after(first);
  const auto attempt = said(journal.start(first, any_priority)).value().attempt;
  std::optional<Effect> told;
  keeper.when(journal.fail(first, attempt, {"bad", "Bad."}, std::nullopt),
              [&told](const JournalResult<JobJournal::Ended>& ended) {
                if (ended) told = ended->effect;
              });
  {
    const NoMemory none(0);
    step_network();
  }
  EXPECT_EQ(told, Effect::stored);
  kept.post_waiting(anonymous);
  run_kept();
  EXPECT_EQ(error_of(second), "predecessor_failed");
  EXPECT_FALSE(follows(second));
}

// Rule: JRN-8
TEST_F(KeptFollowers, after_when_the_other_job_expires_first_in_memory_then_followers_hear_later) {
  journal.fails = 1;
  const auto first = post_kept("/jobs/digest?delay=1&ttl=2");
  const auto second = after(first);
  while (anonymous.waiting.find(first) != nullptr) run_network();
  if (stored(first).state != StoredState::aborted) {
    EXPECT_TRUE(follows(second));
  }
  while (follows(second)) run_network();
  EXPECT_EQ(error_of(second), "predecessor_failed");
  run_kept();
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-8
TEST_F(KeptFollowers,
       after_when_the_other_job_has_ended_while_the_follower_was_stored_then_settled) {
  const auto first = post_kept("/jobs/digest");
  const auto storing = begin("POST", "/jobs/digest?after=" + first, "bytes");
  EXPECT_TRUE(said(journal.load_unfinished(1, 1)).front().follows);
  run_kept();
  ASSERT_EQ(state_of(first), "done");
  const auto accepted = end(storing);
  EXPECT_EQ(accepted.status, 202U);
  const std::string second = accepted.json()["id"];
  run_kept();
  EXPECT_EQ(state_of(second), "done");
}

// Rule: JRN-8
TEST_F(KeptFollowers, after_when_only_the_journal_knows_the_other_job_then_it_is_asked_at_once) {
  const auto first = post_kept("/jobs/digest");
  run_kept();
  anonymous.jobs.drop(*anonymous.jobs.find(first));
  EXPECT_EQ(stored(after(first)).after, first);
  const auto refused = ask("POST", "/jobs/digest?after=" + std::string(32, 'a'), "bytes");
  EXPECT_EQ(refused.status, 404U);
  EXPECT_EQ(refused.error(), "no_predecessor");
}

// Rule: JRN-8
TEST_F(KeptFollowers,
       after_when_only_the_journal_knows_that_the_other_job_failed_then_told_at_once) {
  const auto first = post_kept("/jobs/digest?delay=86400000");
  ask("DELETE", "/jobs/" + first);
  const auto before_the_upload = begin("POST", "/jobs/digest?after=" + first, "bytes");
  ASSERT_TRUE(std::holds_alternative<Reply>(before_the_upload));
  EXPECT_EQ(end(before_the_upload).error(), "predecessor_failed");
}

// Rule: JRN-8
TEST_F(KeptFollowers, abort_when_only_the_journal_knows_a_job_between_then_all_of_the_chain_end) {
  const auto first = post_kept("/jobs/digest?delay=86400000");
  const auto second = after(first);
  const auto third = after(second);
  leave_to_journal(second);
  ask("DELETE", "/jobs/" + first);
  run_kept();
  EXPECT_FALSE(follows(third));
  EXPECT_EQ(error_of(third), "predecessor_failed");
  EXPECT_EQ(anonymous.depths().at(1).delayed, 0U);
}

// Rule: JRN-8
TEST_F(KeptFollowers, signal_when_only_the_journal_knows_its_jobs_then_their_followers_end) {
  const auto first = post_kept("/jobs/digest?delay=86400000&signal=night");
  std::vector<JobId> followers;
  for (int i = 0; i < 100; ++i) followers.push_back(after(first));
  leave_to_journal(first);
  ask("DELETE", "/signals/night");
  run_kept();
  for (const auto& id : followers) EXPECT_FALSE(follows(id));
  EXPECT_EQ(error_of(followers.back()), "predecessor_failed");
}

// Rule: JRN-8
TEST_F(KeptFollowers, restart_then_followers_follow_as_before) {
  const auto first = post_kept("/jobs/digest?delay=86400000");
  const auto second = after(first);
  leave_to_journal(second);
  leave_to_journal(first);
  restart();
  EXPECT_TRUE(follows(second));
  run_kept();
  EXPECT_EQ(stored(first).state, StoredState::done);
  EXPECT_EQ(stored(second).state, StoredState::done);
}

// Rule: JRN-8
TEST_F(KeptFollowers, shutdown_when_the_other_job_is_done_meanwhile_then_the_next_server_goes_on) {
  const auto first = post_kept("/jobs/digest");
  const auto second = after(first);
  kept.start_shutdown();
  run_kept();
  EXPECT_EQ(stored(first).state, StoredState::done);
  EXPECT_EQ(stored(second).state, StoredState::queued);
  EXPECT_FALSE(stored(second).follows);
  EXPECT_EQ(stored(second).attempt, 0U);
}

TEST_F(KeptFollowers, priority_when_a_follower_waits_then_it_is_one_step_and_holds) {
  const auto first = post_kept("/jobs/digest");
  const auto second = after(first);
  EXPECT_EQ(ask("PUT", "/jobs/" + second + "?priority=background").status, 200U);
  EXPECT_TRUE(follows(second));
  EXPECT_EQ(anonymous.depths().at(0).delayed, 1U);
  run_kept();
  EXPECT_EQ(state_of(second), "done");
  EXPECT_EQ(stored(second).priority, heist::TaskPriority::background);
}

// Rule: JRN-8
TEST_F(KeptFollowers, signal_when_it_is_deleted_then_followers_of_its_jobs_are_aborted) {
  const auto first = post_kept("/jobs/digest?delay=86400000&signal=night");
  const auto second = after(first);
  ask("DELETE", "/signals/night");
  run_kept();
  EXPECT_FALSE(follows(second));
  EXPECT_EQ(error_of(second), "predecessor_failed");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(KeptFollowers, records_when_jobs_follow_none_then_they_take_no_more_than_before) {
  post_kept("/jobs/digest?delay=86400000");
  EXPECT_EQ(anonymous.budget->bytes(), WaitingJobs::record_bytes);
  EXPECT_LE(sizeof(WaitingJob), 112U);
}

}  // namespace
}  // namespace heistd
