// Kinds and signals that are paused, with a journal.
#include <heistd/job_restore.hpp>
#include <heistd/waiting_jobs.hpp>
#include <vector>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

constexpr auto most_posted = WaitingJobs::most_posted;

class KeptPauses : public KeptJobs {
 protected:
  void set(const std::string& target) { EXPECT_EQ(ask("POST", target).status, 200U); }
  void run_until_done(const std::vector<JobId>& ids) {
    for (const auto& id : ids) {
      while (stored(id).state != StoredState::done) run_all();
    }
  }
  /// None of them has been started.
  void expect_unstarted(const std::vector<JobId>& ids) {
    for (const auto& id : ids) EXPECT_EQ(stored(id).attempt, 0U);
  }
};

// Rule: JRN-7
TEST_F(KeptPauses, kind_when_its_jobs_are_posted_already_then_none_of_them_starts) {
  const auto ids = post_many(2 * most_posted, "/jobs/digest");
  set("/kinds/digest/pause");
  const auto other = post_kept("/jobs/compress");
  run_until_done({other});
  run_kept();
  expect_unstarted(ids);
  EXPECT_FALSE(kept.has_runnable_jobs());
  set("/kinds/digest/resume");
  run_until_done(ids);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_TRUE(anonymous.held.empty());
}

// Rule: JRN-7
TEST_F(KeptPauses, kind_when_its_jobs_have_asked_for_their_starts_then_none_of_them_starts) {
  const auto ids = post_many(most_posted, "/jobs/digest");
  loop.run_until_idle();  // and the network has not heard that they ask
  kept.set_pause(anonymous, *kinds.find("digest"), true);
  run_kept();
  expect_unstarted(ids);
  EXPECT_EQ(state_of(ids.front()), "queued");
  set("/kinds/digest/resume");
  run_kept();
  run_until_done(ids);
  for (const auto& id : ids) EXPECT_EQ(stored(id).attempt, 1U);
}

TEST_F(KeptPauses, resume_when_a_held_job_was_given_up_meanwhile_then_others_start_without_it) {
  const auto ids = post_many(2, "/jobs/digest");
  set("/kinds/digest/pause");
  run_kept();
  ASSERT_EQ(anonymous.held.size(), 2U);
  journal.fails = 1;
  kept.give_up(anonymous, *anonymous.jobs.find(ids[0]), "the test");
  set("/kinds/digest/resume");
  run_until_done({ids[1]});
  EXPECT_EQ(stored(ids[0]).state, StoredState::queued);
  while (stored(ids[0]).state != StoredState::aborted) run_kept();
  expect_unstarted({ids[0]});
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-7
TEST_F(KeptPauses, signal_when_paused_then_records_of_others_are_posted) {
  post_many(most_posted + 1, "/jobs/digest?priority=background");
  set("/signals/night/pause");
  const auto waits = post_kept("/jobs/digest?signal=night&priority=background");
  EXPECT_NE(anonymous.waiting.find(waits), nullptr);
  const auto behind = post_kept("/jobs/digest?priority=background");
  run_until_done({behind});
  expect_unstarted({waits});
  set("/signals/night/resume");
  run_until_done({waits});
}

// Rule: JRN-7
TEST_F(KeptPauses, pause_when_the_server_starts_again_then_it_is_there) {
  set("/kinds/digest/pause");
  set("/signals/night/pause");
  set("/signals/day/pause");
  set("/signals/day/resume");
  ClientTable clients_then{{}, heist::TaskPriority::user_blocking, limits};
  JobService service_then{loop.scheduler(), network.get_executor(), &keeper};
  restore_jobs(service_then, clients_then, kinds);
  const auto& client = **clients_then.authenticate(std::nullopt);
  EXPECT_TRUE(client.kind_pauses.is_on(*kinds.find("digest")));
  EXPECT_FALSE(client.kind_pauses.is_on(*kinds.find("compress")));
  EXPECT_TRUE(client.signals.find("night")->pause.is_on());
  EXPECT_FALSE(client.signals.find("day")->pause.is_on());
}

TEST_F(KeptPauses, delete_when_the_job_is_held_then_it_never_starts) {
  const auto id = post_kept("/jobs/digest");
  set("/kinds/digest/pause");
  run_kept();
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "aborted");
  set("/kinds/digest/resume");
  run_kept();
  expect_unstarted({id});
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

}  // namespace
}  // namespace heistd
