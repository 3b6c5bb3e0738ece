// Many finished jobs at once: dead ones queued again, others forgotten.
#include <cstdint>
#include <functional>
#include <heist/jobs.hpp>
#include <jobs/handler_kind.hpp>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "heistd/no_memory.hpp"
#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;

/// Jobs of the kinds `own` and `other` fail for a while. Few are kept in memory once they have
/// ended.
class Sweeps : public KeptJobs {
 protected:
  explicit Sweeps(Limits limits = {.max_queued = 200, .max_results = 10}) : KeptJobs(limits) {
    for (const std::string kind : {"own", "other"}) {
      kinds.add(make_handler_kind(
          kind,
          [this](const jobs::Job& /*job*/) {
            if (is_busy) throw jobs::Failure::transient("busy", "the other server is busy");
            return heist::Promise<jobs::Result>::resolved(jobs::Result(std::string("done")));
          },
          {}, std::source_location::current()));
    }
  }
  std::vector<JobId> make_dead(std::size_t count, const std::string& kind = "own") {
    is_busy = true;
    auto ids = post_many(count, "/jobs/" + kind + "?max_attempts=1");
    while (said(journal.count_unfinished()) > 0) run_all();
    is_busy = false;
    return ids;
  }
  /// How many jobs have ended in this state.
  std::size_t count(StoredState state) {
    std::size_t jobs = 0;
    for (const auto& job : said(journal.load_ended(anonymous.name, {}, 1000))) {
      jobs += job.state == state ? 1 : 0;
    }
    return jobs;
  }

  bool is_busy = false;
};

TEST_F(Sweeps, requeue_then_all_dead_jobs_run_again_whatever_memory_knows) {
  make_dead(150);
  ASSERT_EQ(count(StoredState::dead), 150U);
  const auto answer = ask("POST", "/jobs/requeue");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_EQ(answer.json(), Json({{"requeued", 150}, {"refused", 0}}));
  run_kept();
  while (said(journal.count_unfinished()) > 0) run_all();
  EXPECT_EQ(count(StoredState::done), 150U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
  EXPECT_EQ(ask("POST", "/jobs/requeue").json()["requeued"], 0);
}

TEST_F(Sweeps, requeue_when_the_client_has_a_rate_then_each_job_takes_its_part_of_it) {
  make_dead(70);
  clients.renew({std::get<ClientSpec>(parse_client_spec("anonymous rate=2/m burst=3"))});
  EXPECT_EQ(ask("POST", "/jobs/requeue").json()["requeued"], 70);
  const auto refused = ask("POST", "/jobs/requeue");
  EXPECT_EQ(refused.status, 429U);
  EXPECT_GT(std::stoi(refused.header("Retry-After")), 66 * 30);
  EXPECT_EQ(ask("DELETE", "/jobs?state=dead").status, 200U) << "which brings no jobs";
}

// Rule: SEC-1
TEST_F(Sweeps, requeue_when_it_names_a_kind_then_only_the_clients_own_jobs_of_that) {
  const auto mine = make_dead(2);
  make_dead(3, "other");
  authorization = "Bearer a";
  EXPECT_EQ(ask("POST", "/jobs/requeue").json()["requeued"], 0);
  authorization.reset();
  EXPECT_EQ(ask("POST", "/jobs/requeue?kind=own").json()["requeued"], 2);
  run_kept();
  EXPECT_EQ(count(StoredState::dead), 3U);
  EXPECT_EQ(stored(mine.front()).state, StoredState::done);
}

TEST_F(Sweeps, requeue_when_there_is_no_room_then_some_are_and_it_says_why) {
  make_dead(100);
  const auto waiting = post_many(150, "/jobs/own?delay=86400000");
  const auto json = ask("POST", "/jobs/requeue").json();
  EXPECT_EQ(json["requeued"], 50);
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["error"]["code"], "queue_full");
  EXPECT_EQ(anonymous.budget->jobs(), 200U);
  run_kept();
  EXPECT_EQ(count(StoredState::dead), 50U);
}

/// Some 20 jobs have room before they wait as records.
class NarrowSweeps : public Sweeps {
 protected:
  NarrowSweeps() : Sweeps({.max_queued_bytes = 100'000}) {}
};

TEST_F(NarrowSweeps, requeue_when_there_is_room_only_for_one_after_the_other_then_all_are) {
  for (int ten = 0; ten < 4; ++ten) make_dead(10);
  ask("POST", "/kinds/own/pause");
  EXPECT_EQ(ask("POST", "/jobs/requeue").json(), Json({{"requeued", 40}, {"refused", 0}}));
}

TEST_F(NarrowSweeps, requeue_when_one_is_too_large_for_the_room_left_then_smaller_ones_are_queued) {
  is_busy = true;
  ask("POST", "/jobs/own?max_attempts=1", std::string(70'000, 'x'));
  post_many(2, "/jobs/own?max_attempts=1");
  while (said(journal.count_unfinished()) > 0) run_all();
  auto taken = anonymous.budget->take_memory(40'000);
  ASSERT_TRUE(taken.has_value());
  const auto json = ask("POST", "/jobs/requeue").json();
  EXPECT_EQ(json["requeued"], 2) << json;
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["error"]["code"], "queue_full");
}

/// Memory that is missing on the way of a requeue, with the next allocation each time.
class SweepsWithoutMemory : public Sweeps {
 protected:
  /// Does the next step of a request without memory, which has an answer then or not.
  void take_step(std::function<void()> step) {
    const NoMemory none(successes, NoMemory::Fails::once);
    try {
      step();
    } catch (const std::bad_alloc&) {  // the server goes on with the next request
    }
    was_missing = none.struck();
  }
  /// Jobs that the journal has queued run, and those that are dead still can be queued.
  void expect_no_job_waits_for_the_next_server() {
    ask("POST", "/kinds/own/resume");
    run_kept();
    EXPECT_EQ(said(journal.count_unfinished()), 0U) << successes;
    ask("POST", "/jobs/requeue");
    run_kept();
    EXPECT_EQ(count(StoredState::dead), 0U) << successes;
    ask("DELETE", "/jobs?state=done");
  }

  std::size_t successes = 0;
  bool was_missing = true;
};

// Rule: JRN-2
TEST_F(SweepsWithoutMemory, requeue_when_it_is_missing_as_the_journal_is_asked_then_all_run) {
  for (; was_missing && !HasFailure(); ++successes) {
    make_dead(3);
    ask("POST", "/kinds/own/pause");  // so that all of it is about the requeue
    const auto listed = begin("POST", "/jobs/requeue");
    run_network();
    take_step([&] { std::get<Storing>(listed).then(); });
    expect_no_job_waits_for_the_next_server();
  }
}

// Rule: JRN-2
TEST_F(SweepsWithoutMemory, requeue_when_it_is_missing_as_the_journal_answers_then_all_run) {
  for (; was_missing && !HasFailure(); ++successes) {
    make_dead(3);
    ask("POST", "/kinds/own/pause");
    const auto listed = begin("POST", "/jobs/requeue");
    run_network();
    const auto requeued = std::get<Storing>(std::get<Storing>(listed).then());
    take_step([&] {
      run_network();
      requeued.then();
    });
    expect_no_job_waits_for_the_next_server();
  }
}

// Rule: JRN-2
TEST_F(SweepsWithoutMemory, requeue_of_one_when_it_is_missing_then_that_runs) {
  for (; was_missing && !HasFailure(); ++successes) {
    const auto id = make_dead(1).front();
    ask("POST", "/kinds/own/pause");
    const auto found = begin("POST", "/jobs/" + id + "/requeue");
    run_network();
    take_step([&] {
      const auto requeued = std::get<Storing>(found).then();
      run_network();
      std::get<Storing>(requeued).then();
    });
    expect_no_job_waits_for_the_next_server();
  }
}

// Rule: JRN-2
TEST_F(Sweeps, requeue_when_whoever_asked_is_gone_then_it_runs) {
  const auto id = make_dead(1).front();
  auto found = begin("POST", "/jobs/" + id + "/requeue");
  run_network();
  found = std::get<Storing>(found).then();
  found = Reply();  // nobody hears of the answer
  run_kept();
  EXPECT_EQ(stored(id).state, StoredState::done);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(Sweeps, forget_then_jobs_of_that_state_are_gone_and_others_stay) {
  make_dead(100);
  post_many(100, "/jobs/own");
  while (said(journal.count_unfinished()) > 0) run_all();
  EXPECT_EQ(ask("DELETE", "/jobs?state=dead&kind=other").json()["forgotten"], 0);
  EXPECT_EQ(ask("DELETE", "/jobs?state=dead").json()["forgotten"], 100);
  EXPECT_EQ(count(StoredState::dead), 0U);
  EXPECT_EQ(count(StoredState::done), 100U);
  EXPECT_EQ(ask("DELETE", "/jobs?state=done").json()["forgotten"], 100);
  EXPECT_EQ(ask("GET", "/jobs").json()["jobs"].size(), 0U);
  EXPECT_EQ(anonymous.jobs.find(""), nullptr);
  EXPECT_EQ(anonymous.jobs.result_bytes(), 0U);
}

TEST_F(Sweeps, forget_when_a_job_was_queued_again_meanwhile_then_it_stays) {
  const auto id = make_dead(1).front();
  auto outcome = begin("DELETE", "/jobs?state=dead");
  ask("POST", "/jobs/" + id + "/requeue");
  run_kept();
  EXPECT_EQ(end(outcome).json()["forgotten"], 0);
  EXPECT_EQ(stored(id).state, StoredState::done);
}

TEST_F(Sweeps, forget_when_there_are_many_then_no_step_has_more_than_a_batch) {
  make_dead(150);
  std::size_t left = 150;
  auto outcome = begin("DELETE", "/jobs?state=dead");
  while (const auto* const storing = std::get_if<Storing>(&outcome)) {
    run_network();
    auto next = storing->then();
    outcome = std::move(next);
    const auto now = count(StoredState::dead);
    EXPECT_LE(left - now, jobs_at_a_time);
    left = now;
  }
  EXPECT_EQ(left, 0U);
}

/// Forgets nothing.
struct NoPurges : MemoryJournal {
  Answer<JobJournal::Effect> purge(JobId /*id*/) override {
    return Answer<JobJournal::Effect>::resolved(JournalError{JournalFault::disk_full, {}});
  }
};

TEST_F(Sweeps, forget_when_the_journal_fails_then_503_and_the_jobs_stay) {
  NoPurges broken;
  JobKeeper its_keeper(broken, network.get_executor());
  JobService its_service(loop.scheduler(), network.get_executor(), &its_keeper);
  Api its_api(kinds, clients, its_service, observer, limits);
  auto job = new_job(1);
  job.client = anonymous.name;
  said(broken.submit(job));
  said(broken.complete(job.id, said(broken.start(job.id, any_priority)).value().attempt, {}));
  auto step = heistd::begin(its_api, {"DELETE", "/jobs?state=done", {}, 0, false});
  const auto failed = end(std::get<Storing>(std::move(step)));
  EXPECT_EQ(failed.status, 503U);
  EXPECT_EQ(failed.error(), "journal_failed");
  EXPECT_EQ(said(broken.find(job.id)).value().state, StoredState::done);
}

TEST_F(Sweeps, query_when_it_is_wrong_or_lacks_the_state_then_400) {
  for (const std::string target : {"/jobs", "/jobs?state=queued", "/jobs?state=x"}) {
    EXPECT_EQ(ask("DELETE", target).field(), "state") << target;
  }
  EXPECT_EQ(ask("DELETE", "/jobs?state=dead&limit=5").field(), "limit");
  EXPECT_EQ(ask("POST", "/jobs/requeue?state=dead").field(), "state");
  EXPECT_EQ(ask("POST", "/jobs/requeue?kind=").field(), "kind");
  EXPECT_EQ(ask("POST", "/jobs/requeue?signal=").field(), "signal");
}

TEST_F(Sweeps, forget_when_there_is_no_journal_then_memory_forgets) {
  for (int i = 0; i < 5; ++i) post("/jobs/own");
  const auto kept_job = post("/jobs/own?delay=86400000");
  loop.run_one(), loop.run_one();
  run_network();
  const auto asked = [this](std::string_view method, std::string_view target) {
    auto step = heistd::begin(api, {method, target, {}, 0, false});
    return end(std::get<Storing>(std::move(step))).json();
  };
  EXPECT_EQ(asked("DELETE", "/jobs?state=done"), Json({{"forgotten", 2}}));
  EXPECT_EQ(asked("DELETE", "/jobs?state=done"), Json({{"forgotten", 0}}));
  EXPECT_EQ(state(kept_job), "delayed");
  EXPECT_EQ(asked("POST", "/jobs/requeue"), Json({{"requeued", 0}, {"refused", 0}}));
}

}  // namespace
}  // namespace heistd
