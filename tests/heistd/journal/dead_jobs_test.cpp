// Jobs that only the journal has, and dead ones that are queued again.
#include <gmock/gmock.h>

#include <heist/jobs.hpp>
#include <jobs/handler_kind.hpp>
#include <utility>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;

/// One finished job is kept in memory. Jobs of the kind `own` fail for a while, or give their
/// upload.
class DeadJobs : public KeptJobs {
 protected:
  DeadJobs() : KeptJobs(Limits{.max_queued = 2, .max_results = 1}) {
    kinds.add(make_handler_kind(
        "own",
        [this](jobs::Job job) {
          if (is_busy) throw jobs::Failure::transient("busy", "the other server is busy");
          return heist::Promise<jobs::Result>::resolved(jobs::Result(job.read().value_or("")));
        },
        {}, std::source_location::current()));
  }
  JobId make_dead(std::string_view target = "/jobs/own?max_attempts=1") {
    is_busy = true;
    const auto id = post_kept(target);
    run_kept();
    is_busy = false;
    EXPECT_EQ(stored(id).state, StoredState::dead);
    return id;
  }
  /// Two, of which memory has the second.
  std::vector<JobId> make_two_dead() { return {make_dead(), make_dead()}; }

  bool is_busy = false;
};

TEST_F(DeadJobs, get_when_only_the_journal_has_the_job_then_it_is_described) {
  for (const auto& id : make_two_dead()) {
    const auto job = ask("GET", "/jobs/" + id).json();
    EXPECT_EQ(job["id"], id);
    EXPECT_EQ(job["state"], "dead");
    EXPECT_EQ(job["attempts"], 1);
    EXPECT_EQ(job["error"]["code"], "busy");
  }
  EXPECT_EQ(ask("GET", "/jobs/" + std::string(32, 'a')).status, 404U);
}

TEST_F(DeadJobs, requeue_when_the_rate_is_used_up_then_429_and_the_job_stays_dead) {
  const auto ids = make_two_dead();
  clients.renew({std::get<ClientSpec>(parse_client_spec("anonymous rate=1/h"))});
  EXPECT_EQ(ask("POST", "/jobs/" + ids[0] + "/requeue").status, 202U);
  EXPECT_EQ(ask("POST", "/jobs/" + ids[1] + "/requeue").error(), "rate_limited");
  EXPECT_EQ(stored(ids[1]).state, StoredState::dead);
}

// Rule: SEC-1
TEST_F(DeadJobs, request_when_only_the_journal_has_another_client_s_job_then_404) {
  const auto id = make_two_dead().front();
  authorization = "Bearer a";
  EXPECT_EQ(ask("GET", "/jobs/" + id).status, 404U);
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).status, 404U);
  EXPECT_EQ(ask("POST", "/jobs/" + id + "/requeue").status, 404U);
  EXPECT_TRUE(ask("GET", "/jobs").json()["jobs"].empty());
  EXPECT_EQ(stored(id).state, StoredState::dead);
}

TEST_F(DeadJobs, list_when_dead_jobs_are_asked_for_then_all_that_the_journal_has_come) {
  const auto ids = make_two_dead();
  post_kept("/jobs/digest");
  run_kept();
  const auto list = ask("GET", "/jobs?state=dead").json();
  ASSERT_EQ(list["jobs"].size(), 2U);
  EXPECT_EQ(list["jobs"][0]["id"], ids[0]);
  EXPECT_EQ(list["jobs"][1]["error"]["message"], "the other server is busy");
  const auto part = ask("GET", "/jobs?state=dead&limit=1").json();
  const auto rest = ask("GET", "/jobs?state=dead&cursor=" + std::string(part["cursor"])).json();
  EXPECT_EQ(rest["jobs"][0]["id"], ids[1]);
  EXPECT_FALSE(rest.contains("cursor"));
}

// Rule: JRN-2
TEST_F(DeadJobs, requeue_then_the_job_has_its_attempts_anew_and_its_upload) {
  for (const auto& id : make_two_dead()) {
    const auto queued = ask("POST", "/jobs/" + id + "/requeue");
    EXPECT_EQ(queued.status, 202U) << queued.body;
    EXPECT_EQ(queued.header("Location"), "/jobs/" + id);
    EXPECT_EQ(queued.json()["state"], "queued");
    EXPECT_EQ(queued.json()["attempts"], 0);
    EXPECT_EQ(queued.json()["last_error"]["code"], "busy");
    run_kept();
    EXPECT_EQ(state_of(id), "done");
    EXPECT_EQ(ask("GET", "/jobs/" + id + "/result").body, "bytes");
    EXPECT_EQ(stored(id).attempt, 2U);
  }
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(DeadJobs, requeue_when_answered_then_whoever_asks_next_can_wait_for_the_job) {
  const auto id = make_dead();
  ask("POST", "/kinds/own/pause");  // so that it only waits
  ASSERT_EQ(ask("POST", "/jobs/" + id + "/requeue").status, 202U);
  const auto outcome = begin("GET", "/jobs/" + id + "?wait=1");
  run_network();
  EXPECT_TRUE(std::holds_alternative<Waiting>(std::get<Storing>(outcome).then()));
}

TEST_F(DeadJobs, requeue_when_the_job_is_not_dead_then_409) {
  const auto id = make_dead();
  EXPECT_EQ(ask("POST", "/jobs/" + id + "/requeue").status, 202U);
  const auto again = ask("POST", "/jobs/" + id + "/requeue");
  EXPECT_EQ(again.status, 409U);
  EXPECT_EQ(again.error(), "not_dead");
}

TEST_F(DeadJobs, requeue_when_the_client_has_too_many_jobs_then_503_and_the_job_stays_dead) {
  const auto id = make_dead();
  post_kept("/jobs/digest?delay=1000");
  post_kept("/jobs/digest?delay=1000");
  const auto refused = ask("POST", "/jobs/" + id + "/requeue");
  EXPECT_EQ(refused.status, 503U);
  EXPECT_EQ(refused.error(), "queue_full");
  EXPECT_EQ(stored(id).state, StoredState::dead);
}

TEST_F(DeadJobs, delete_when_the_job_is_dead_then_it_is_gone_wherever_it_is_kept) {
  for (const auto& id : make_two_dead()) {
    EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "dead");
    EXPECT_EQ(said(journal.find(id)), std::nullopt);
    EXPECT_EQ(ask("GET", "/jobs/" + id).status, 404U);
  }
}

TEST_F(DeadJobs, delete_when_the_job_is_queued_again_at_the_same_moment_then_it_says_so) {
  const auto id = make_two_dead().front();
  const auto requeue = begin("POST", "/jobs/" + id + "/requeue");
  const auto erase = begin("DELETE", "/jobs/" + id);
  ASSERT_EQ(end(requeue).status, 202U);
  const auto refused = end(erase);
  EXPECT_EQ(refused.status, 409U) << refused.body;
  EXPECT_EQ(refused.error(), "queued_again");
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "aborted");
}

TEST_F(DeadJobs, delete_when_the_journal_cannot_have_the_abort_yet_then_503_until_it_has) {
  const auto id = post_kept("/jobs/digest");
  journal.fails = 1;
  kept.abort(anonymous, *anonymous.jobs.find(id), job_deleted);
  ASSERT_EQ(stored(id).state, StoredState::queued);
  const auto refused = ask("DELETE", "/jobs/" + id);
  EXPECT_EQ(refused.status, 503U) << refused.body;
  EXPECT_EQ(refused.error(), "journal_failed");
  EXPECT_EQ(keeper.failures().of(JournalFault::disk_full), 1U);
  said(journal.abort(id, aborted_because(job_deleted)));
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "aborted");
  EXPECT_EQ(said(journal.find(id)), std::nullopt);
}

TEST_F(DeadJobs, delete_when_the_journal_has_the_abort_a_moment_later_then_the_job_is_gone) {
  const auto id = post_kept("/jobs/digest");
  journal.fails = 1;
  kept.abort(anonymous, *anonymous.jobs.find(id), job_deleted);
  const auto erase = begin("DELETE", "/jobs/" + id);  // too early
  said(journal.abort(id, aborted_because(job_deleted)));
  EXPECT_EQ(end(erase).json()["state"], "aborted");
  EXPECT_EQ(said(journal.find(id)), std::nullopt);
}

TEST_F(DeadJobs, delete_when_a_requeue_is_under_way_then_memory_s_job_goes_on) {
  const auto id = make_dead();
  const auto found = begin("POST", "/jobs/" + id + "/requeue");
  run_network();
  const auto requeued = std::get<Storing>(found).then();
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).error(), "queued_again");
  EXPECT_EQ(end(requeued).status, 202U);
  run_kept();
  EXPECT_EQ(state_of(id), "done");
}

}  // namespace
}  // namespace heistd
