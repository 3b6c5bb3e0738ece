// Jobs of a queue that servers share, as one of them has them.
#include <gmock/gmock.h>

#include <heist/jobs.hpp>
#include <jobs/handler_kind.hpp>
#include <utility>
#include <vector>

#include "heistd/api_fixture.hpp"
#include "journal_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;
using testing::ElementsAre;
using testing::IsEmpty;

/// Of which the answers are those of one that others write to as well.
struct ScriptedJournal : MemoryJournal {
  Answer<Effect> release(JobId id, Attempt attempt) override {
    if (failing_releases > 0 && failing_releases-- > 0) {
      return Answer<Effect>::resolved(JournalError{JournalFault::io_failed, {}});
    }
    released.push_back(id);
    return MemoryJournal::release(std::move(id), attempt);
  }
  /// Another server has done the job by then.
  Answer<Ended> fail(JobId id, Attempt attempt, StoredError error,
                     std::optional<milliseconds> retry_after) override {
    said(complete(id, attempt, {"text", blocks("result")}));
    return MemoryJournal::fail(std::move(id), attempt, std::move(error), retry_after);
  }

  int failing_releases = 0;
  std::vector<JobId> released;
};

/// Jobs of the kind `own` fail for a while.
class SharedJobs : public ApiFixture {
 protected:
  SharedJobs() {
    kinds.add(make_handler_kind("own", &fail_for_a_while, {}, std::source_location::current()));
    shared.share_queue(kinds, [this] { ++claims; });
  }
  static heist::Promise<jobs::Result> fail_for_a_while(jobs::Job /*job*/) {
    throw jobs::Failure::transient("busy", "the other server is busy");
    co_return std::string();
  }
  void claim(int number, const std::string& kind = "digest") {
    auto job = new_job(number);
    job.kind = kind;
    job.max_attempts = 2;
    said(journal.submit(std::move(job)));
    shared.take_claimed(anonymous, *kinds.find(kind), said(journal.find(id_of(number))).value());
  }
  void pause(bool on) { shared.set_pause(anonymous, *kinds.find("digest"), on); }
  bool knows(int number) {
    return anonymous.waiting.find(id_of(number)) != nullptr || anonymous.jobs.find(id_of(number));
  }

  ScriptedJournal journal;
  JobKeeper keeper{journal, network.get_executor(), true};
  JobService shared{loop.scheduler(), network.get_executor(), &keeper};
  int claims = 0;
};

TEST_F(SharedJobs, release_when_the_journal_fails_then_it_is_asked_again) {
  claim(1);
  const auto attempt = said(journal.start(id_of(1), any_priority)).value().attempt;
  journal.failing_releases = 1;
  bool is_released = false;
  keeper.release(id_of(1), attempt, [&is_released] { is_released = true; });
  while (!is_released) run_network();
  EXPECT_EQ(said(journal.find(id_of(1))).value().state, StoredState::queued);
}

// Rule: JRN-7
TEST_F(SharedJobs, kind_when_paused_as_its_job_is_about_to_start_then_the_claim_goes_back) {
  claim(1);
  shared.post_waiting(anonymous);
  run_network();
  loop.run_until_idle();  // and the network has not heard that it asks
  pause(true);
  claims = 0;
  run_all();
  run_all();
  EXPECT_THAT(journal.released, ElementsAre(id_of(1)));
  EXPECT_FALSE(knows(1));
  EXPECT_TRUE(anonymous.held.empty());
  EXPECT_GT(claims, 0);  // its agent may have another job
}

TEST_F(SharedJobs, kind_when_a_held_job_is_waited_for_then_it_starts_when_it_is_claimed_anew) {
  claim(1);
  shared.post_waiting(anonymous);
  run_network();
  anonymous.jobs.find(id_of(1))->on_finished.emplace_back([] {});
  loop.run_until_idle();  // and the network has not heard that it asks
  pause(true);
  run_all();
  run_all();
  ASSERT_THAT(journal.released, ElementsAre(id_of(1)));
  pause(false);
  shared.take_claimed(anonymous, *kinds.find("digest"), said(journal.find(id_of(1))).value());
  shared.post_waiting(anonymous);
  run_network();
  run_all();
  EXPECT_TRUE(anonymous.jobs.find(id_of(1))->has_started());
}

/// A client of which one job runs at a time: the first has the place, and the second waits for it.
class SharedJobsOneByOne : public SharedJobs {
 protected:
  SharedJobsOneByOne() {
    claim(1);
    claim(2);
    shared.post_waiting(anonymous);
    run_network();
    anonymous.set_limits({.running = 1});
    for (const auto number : {1, 2}) job(number).on_finished.emplace_back([] {});
    loop.run_until_idle();
    run_network();
  }
  Job& job(int number) { return *anonymous.jobs.find(id_of(number)); }
  void claim_anew(int number) {
    shared.take_claimed(anonymous, *kinds.find("digest"),
                        said(journal.find(id_of(number))).value());
    shared.post_waiting(anonymous);
    run_network();
  }
};

TEST_F(SharedJobsOneByOne, lost_when_the_job_waits_for_its_run_place_then_it_gets_none) {
  ASSERT_TRUE(job(1).unfinished->begun);
  ASSERT_FALSE(job(2).unfinished->run_place);
  shared.leave_to_others(anonymous, id_of(2));
  run_all();
  run_all();
  EXPECT_FALSE(knows(1));
  EXPECT_TRUE(knows(2));
  EXPECT_EQ(anonymous.run_places.taken(), 0U);
}

TEST_F(SharedJobsOneByOne, lost_when_the_job_is_claimed_anew_then_it_starts_in_its_turn) {
  shared.leave_to_others(anonymous, id_of(2));
  claim_anew(2);
  for (int turn = 0; turn < 4; ++turn) run_all();
  EXPECT_FALSE(knows(2));
  EXPECT_EQ(anonymous.run_places.taken(), 0U);
}

TEST_F(SharedJobsOneByOne, lost_when_the_job_has_a_run_place_then_another_one_gets_it) {
  shared.leave_to_others(anonymous, id_of(1));
  EXPECT_TRUE(job(2).unfinished->run_place);
}

TEST_F(SharedJobs, keeps_claim_then_of_what_runs_or_may_start) {
  claim(1);
  EXPECT_TRUE(shared.keeps_claim(anonymous, id_of(1)));
  pause(true);
  EXPECT_FALSE(shared.keeps_claim(anonymous, id_of(1)));
  pause(false);
  shared.post_waiting(anonymous);
  run_network();
  EXPECT_TRUE(shared.keeps_claim(anonymous, id_of(1)));
  pause(true);
  EXPECT_FALSE(shared.keeps_claim(anonymous, id_of(1)));
  pause(false);
  while (!anonymous.jobs.find(id_of(1))->has_started()) loop.run_one(), run_network();
  pause(true);
  EXPECT_TRUE(shared.keeps_claim(anonymous, id_of(1)));
  EXPECT_FALSE(shared.keeps_claim(anonymous, id_of(2)));
}

TEST_F(SharedJobs, keeps_claim_when_the_job_is_only_waited_for_then_no) {
  claim(1);
  const auto job = shared.bring(anonymous, said(journal.find(id_of(1))).value());
  job->on_finished.emplace_back([] {});
  shared.leave_to_others(anonymous, id_of(1));
  EXPECT_THAT(shared.watched(), ElementsAre(id_of(1)));
  EXPECT_FALSE(shared.keeps_claim(anonymous, id_of(1)));
}

TEST_F(SharedJobs, retry_when_another_server_has_done_the_job_then_who_waits_hears_of_its_end) {
  claim(1, "own");
  const auto job = shared.bring(anonymous, said(journal.find(id_of(1))).value());
  job->on_finished.emplace_back([] {});
  shared.post_waiting(anonymous);
  while (shared.watched().empty() && !job->finished()) run_all();
  EXPECT_FALSE(job->finished());
  shared.hear_of(anonymous, id_of(1));
  run_network();
  ASSERT_TRUE(job->finished());
  EXPECT_EQ(job->end().state, JobState::done);
  EXPECT_THAT(shared.watched(), IsEmpty());
}

}  // namespace
}  // namespace heistd
