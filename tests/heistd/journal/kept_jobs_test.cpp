// Jobs that a journal keeps, without sockets, disks or threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <heistd/job_restore.hpp>
#include <heistd/prometheus_text.hpp>
#include <numeric>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

// Rule: JRN-1
TEST_F(KeptJobs, post_when_the_journal_has_not_answered_then_there_is_no_job_yet) {
  const auto outcome = begin("POST", "/jobs/digest?max_attempts=7", "bytes");
  ASSERT_TRUE(std::holds_alternative<Storing>(outcome));
  EXPECT_TRUE(anonymous.jobs.unfinished().empty());
  const auto accepted = end(outcome);
  EXPECT_EQ(accepted.status, 202U);
  const JobId id = accepted.json()["id"];
  EXPECT_EQ(anonymous.jobs.unfinished().front()->id, id);
  EXPECT_EQ(stored(id).client, "anonymous");
  EXPECT_EQ(stored(id).kind, "digest");
  EXPECT_EQ(stored(id).max_attempts, 7U);
  EXPECT_EQ(said(journal.read_payload(id, {0, 100})), "bytes");
}

// Rule: JRN-2
TEST_F(KeptJobs, run_when_the_job_begins_then_the_attempt_is_counted_before_its_first_chunk) {
  const auto id = post_kept("/jobs/digest");
  loop.run_until_idle();
  EXPECT_EQ(stored(id).attempt, 0U);
  run_network();
  EXPECT_EQ(stored(id).attempt, 1U);
  EXPECT_EQ(state_of(id), "queued");
  run_all();
  EXPECT_EQ(state_of(id), "done");
  EXPECT_EQ(stored(id).state, StoredState::done);
  EXPECT_EQ(said(journal.read_result(id, {0, 10})), "{\"sha256\":");
}

class KeptJobsFigures : public KeptJobs {
 protected:
  std::uint64_t count_starts(heist::TaskPriority priority) {
    const auto all = figures_of(clients, kinds, &keeper).jobs;
    const auto found = std::ranges::find_if(all, [priority](const JobFigures& jobs) {
      return jobs.client == "anonymous" && jobs.priority == priority;
    });
    return std::reduce(found->queue_delay.starts.begin(), found->queue_delay.starts.end());
  }
};

TEST_F(KeptJobsFigures, queue_delay_when_most_jobs_wait_as_records_then_that_of_each_counts) {
  post_many(200, "/jobs/digest");
  EXPECT_GT(clients.waiting_jobs(), 100U);
  while (clients.unfinished_jobs() > 0) run_all();
  EXPECT_EQ(count_starts(heist::TaskPriority::user_visible), 200U);
}

TEST_F(KeptJobsFigures, queue_delay_when_the_job_still_runs_then_it_counts) {
  ask("POST", "/jobs/compress?priority=background", std::string(1 << 20, 'x'));
  while (anonymous.depths().at(0).running == 0) run_one();
  EXPECT_EQ(count_starts(heist::TaskPriority::background), 1U);
}

TEST_F(KeptJobs, run_when_the_job_fails_then_the_journal_has_its_error) {
  const auto id = post_kept("/jobs/search?pattern=b");
  kept.abort(anonymous, *anonymous.jobs.find(id), "the test");
  EXPECT_EQ(stored(id).state, StoredState::aborted);
  const auto failing = ask("POST", "/jobs/search?pattern=b", std::string(70'000, 'b'));
  run_kept();
  const JobId failed = failing.json()["id"];
  EXPECT_EQ(state_of(failed), "failed");
  EXPECT_EQ(stored(failed).error->code, "line_too_long");
}

TEST_F(KeptJobs, abort_when_the_job_waits_for_the_journal_then_it_never_runs) {
  const auto id = post_kept("/jobs/digest");
  loop.run_until_idle();
  kept.abort(anonymous, *anonymous.jobs.find(id), "the test");
  run_kept();
  EXPECT_EQ(state_of(id), "aborted");
  EXPECT_EQ(stored(id).state, StoredState::aborted);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(KeptJobs, abort_when_the_journal_cannot_have_it_then_it_is_told_again) {
  const auto id = post_kept("/jobs/digest");
  journal.fails = 1;
  kept.abort(anonymous, *anonymous.jobs.find(id), "the test");
  run_network();
  EXPECT_EQ(stored(id).state, StoredState::queued);
  network.restart();
  while (stored(id).state == StoredState::queued && network.run_one() > 0) {
  }
  EXPECT_EQ(stored(id).state, StoredState::aborted);
}

TEST_F(KeptJobs, abort_when_the_server_ends_then_the_journal_keeps_the_job) {
  const auto waiting = post_kept("/jobs/digest?delay=1000");
  const auto begun = post_kept("/jobs/digest");
  loop.run_until_idle();
  run_network();
  kept.start_shutdown();
  while (kept.abort_some(clients, "the test") > 0) {
  }
  for (const auto& id : {waiting, begun}) EXPECT_EQ(stored(id).state, StoredState::queued);
  EXPECT_TRUE(stored(begun).has_attempts_left());
  EXPECT_EQ(stored(begun).forgiven, 1U);
}

// Rule: JRN-3
TEST_F(KeptJobs, wait_when_the_server_ends_then_the_job_has_not_ended_and_can_still_be_deleted) {
  const auto outcome = begin("POST", "/jobs/digest?wait=1", "bytes");
  run_network();
  const auto step = std::get<Storing>(outcome).then();
  const auto& waiting = std::get<Waiting>(step);
  loop.run_until_idle();
  run_network();
  kept.start_shutdown();
  while (kept.abort_some(clients, "the test") > 0) {
  }
  const auto reply = answer(kept_api.waited(waiting));
  EXPECT_EQ(reply.status, 202U);
  EXPECT_EQ(reply.json()["state"], "queued");
  const auto& id = waiting.job->id;
  EXPECT_EQ(state_of(id), "queued");
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "aborted");
  EXPECT_EQ(stored(id).state, StoredState::aborted);
}

TEST_F(KeptJobs, drop_when_the_server_ends_then_the_job_is_aborted_in_the_journal_too) {
  const auto outcome = begin("POST", "/jobs/digest?wait=1", "bytes");
  run_network();
  const auto step = std::get<Storing>(outcome).then();
  const auto& waiting = std::get<Waiting>(step);
  kept.start_shutdown();
  kept_api.drop(waiting);
  EXPECT_EQ(stored(waiting.job->id).state, StoredState::aborted);
}

// Rule: JRN-3
TEST_F(KeptJobs, drop_when_the_journal_has_it_not_yet_then_the_job_stops_and_nobody_sees_its_end) {
  const auto outcome = begin("POST", "/jobs/digest?wait=1", "bytes");
  run_network();
  const auto step = std::get<Storing>(outcome).then();
  const auto id = std::get<Waiting>(step).job->id;
  journal.fails = 1;
  kept_api.drop(std::get<Waiting>(step));
  run_kept();
  EXPECT_EQ(stored(id).state, StoredState::queued);
  EXPECT_EQ(state_of(id), "queued");
  EXPECT_FALSE(kept.has_runnable_jobs());
  EXPECT_EQ(keeper.under_way(), 1U) << "the server does not end before that";
  while (stored(id).state != StoredState::aborted) run_network();
  EXPECT_EQ(keeper.under_way(), 0U);
  EXPECT_EQ(state_of(id), "aborted");
  EXPECT_EQ(stored(id).attempt, 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-3
TEST_F(KeptJobs, drop_when_the_journal_has_the_jobs_end_before_then_the_job_stays_done) {
  const auto outcome = begin("POST", "/jobs/digest?wait=1", "bytes");
  run_network();
  const auto step = std::get<Storing>(outcome).then();
  const auto id = std::get<Waiting>(step).job->id;
  run_to_its_end(id);
  while (stored(id).state != StoredState::done) ASSERT_TRUE(step_network());
  kept_api.drop(std::get<Waiting>(step));
  run_network();
  EXPECT_EQ(state_of(id), "done");
  EXPECT_EQ(ask("GET", "/jobs/" + id + "/result").status, 200U);
}

// Rule: JRN-1
TEST_F(KeptJobs,
       post_when_the_agents_close_before_the_journal_answers_then_the_next_server_has_it) {
  const auto outcome = begin("POST", "/jobs/digest?wait=1", "bytes");
  kept.start_shutdown();
  loop.close(heist::CloseMode::abort());
  const auto accepted = end(outcome);
  EXPECT_EQ(accepted.status, 202U);
  const JobId id = accepted.json()["id"];
  EXPECT_EQ(accepted.header("Location"), "/jobs/" + id);
  EXPECT_EQ(accepted.json()["state"], "queued");
  run_network();
  EXPECT_EQ(stored(id).state, StoredState::queued);
}

// Rule: JRN-1
TEST_F(KeptJobs,
       post_when_another_one_takes_the_last_signal_then_the_job_is_gone_before_the_refusal) {
  fill_signals(anonymous, max_signals - 1);
  const auto first = begin("POST", "/jobs/digest?signal=first", "bytes");
  const auto second = begin("POST", "/jobs/digest?signal=second", "bytes");
  EXPECT_EQ(end(first).status, 202U);
  run_network();
  const auto refusing = std::get<Storing>(second).then();
  ASSERT_TRUE(std::holds_alternative<Storing>(refusing));
  EXPECT_EQ(said(journal.count_unfinished()), 1U);
  EXPECT_EQ(end(refusing).error(), "too_many_signals");
}

// Rule: JRN-3
TEST_F(KeptJobs, delete_when_the_journal_has_it_before_the_jobs_end_then_the_job_is_aborted) {
  const auto id = post_kept("/jobs/digest");
  run_to_its_end(id);
  const auto deleting = begin("DELETE", "/jobs/" + id);
  EXPECT_EQ(end(deleting).json()["state"], "aborted");
  EXPECT_EQ(state_of(id), "aborted");
  EXPECT_EQ(stored(id).state, StoredState::aborted);
}

TEST_F(KeptJobs, delete_when_the_jobs_end_comes_later_then_it_counts_as_aborted_only) {
  const auto id = post_kept("/jobs/digest");
  run_to_its_end(id);
  end(begin("DELETE", "/jobs/" + id));
  const auto& stats = anonymous.stats_of(heist::TaskPriority::user_visible);
  EXPECT_EQ(stats.chunks, 1U);
  EXPECT_EQ(stats.aborted, 1U);
  EXPECT_EQ(stats.done, 0U);
}

// Rule: JRN-3
TEST_F(KeptJobs, delete_when_the_journal_has_the_jobs_end_before_then_the_job_stays_done) {
  const auto id = post_kept("/jobs/digest");
  run_to_its_end(id);
  while (stored(id).state != StoredState::done) ASSERT_TRUE(step_network());
  const auto deleting = begin("DELETE", "/jobs/" + id);
  EXPECT_EQ(end(deleting).json()["state"], "done");
  EXPECT_EQ(state_of(id), "done");
  EXPECT_EQ(stored(id).state, StoredState::done);
}

TEST_F(KeptJobs, put_when_there_are_too_many_signals_then_the_journal_has_it_not) {
  fill_signals(anonymous, max_signals);
  EXPECT_EQ(ask("PUT", "/signals/g?priority=background").error(), "too_many_signals");
  EXPECT_EQ(ask("POST", "/jobs/digest?signal=g").error(), "too_many_signals");
  EXPECT_TRUE(said(journal.signals()).empty());
  EXPECT_EQ(said(journal.count_unfinished()), 0U);
}

TEST_F(KeptJobs, put_when_another_one_takes_the_last_name_then_the_journal_has_that_one) {
  fill_signals(anonymous, max_signals - 1);
  const auto first = begin("PUT", "/signals/first?priority=background");
  const auto second = begin("PUT", "/signals/second?priority=background");
  EXPECT_EQ(end(first).status, 201U);
  EXPECT_EQ(end(second).error(), "too_many_signals");
  const auto signals = said(journal.signals());
  ASSERT_EQ(signals.size(), 1U);
  EXPECT_EQ(signals.front().name, "first");
}

TEST_F(KeptJobs, put_when_the_journal_keeps_a_signal_that_is_refused_then_that_failure_counts) {
  fill_signals(anonymous, max_signals - 1);
  journal.keeps_signals = true;
  const auto put = begin("PUT", "/signals/second?priority=background");
  fill_signals(anonymous, max_signals);
  EXPECT_EQ(end(put).error(), "too_many_signals");
  run_network();
  EXPECT_EQ(keeper.failures().of(JournalFault::disk_full), 1U);
}

TEST_F(KeptJobs, pause_when_the_journal_keeps_a_signal_that_is_refused_then_that_failure_counts) {
  fill_signals(anonymous, max_signals - 1);
  journal.keeps_signals = true;
  const auto pause = begin("POST", "/signals/second/pause");
  fill_signals(anonymous, max_signals);
  EXPECT_EQ(end(pause).error(), "too_many_signals");
  run_network();
  EXPECT_EQ(keeper.failures().of(JournalFault::disk_full), 1U);
}

TEST_F(KeptJobs, post_when_the_job_has_no_delay_then_a_drain_waits_for_its_end) {
  post_kept("/jobs/digest?delay=1000");
  EXPECT_FALSE(kept.has_runnable_jobs());
  const auto id = post_kept("/jobs/digest");
  EXPECT_TRUE(kept.has_runnable_jobs());
  for (int turn = 0; turn < 3; ++turn) run_all();
  EXPECT_EQ(state_of(id), "done");
  EXPECT_FALSE(kept.has_runnable_jobs());
}

// Rule: JRN-2
TEST_F(KeptJobs, close_when_a_job_is_being_opened_then_its_attempt_does_not_count) {
  const auto id = post_kept("/jobs/digest?max_attempts=1");
  loop.run_until_idle();
  step_network();
  EXPECT_EQ(keeper.under_way(), 1U);
  EXPECT_EQ(stored(id).state, StoredState::running);
  kept.start_shutdown();
  keeper.close();
  run_network();
  EXPECT_EQ(keeper.under_way(), 0U);
  EXPECT_EQ(stored(id).state, StoredState::queued);
  EXPECT_TRUE(stored(id).has_attempts_left());
}

// Rule: JRN-4
TEST_F(KeptJobs, post_when_the_key_is_known_then_no_other_job_comes_of_it) {
  key = "key";
  const auto id = post_kept("/jobs/digest");
  EXPECT_EQ(post_kept("/jobs/digest"), id);
  const auto other = ask("POST", "/jobs/digest", "other");
  EXPECT_EQ(other.status, 422U);
  EXPECT_EQ(other.error(), "idempotency_conflict");
  EXPECT_EQ(anonymous.jobs.unfinished().size(), 1U);
}

// Rule: JRN-4
TEST_F(KeptJobs, post_when_only_the_journal_has_the_key_s_job_then_that_is_not_said_to_have_ended) {
  key = "key";
  const auto id = post_kept("/jobs/digest?delay=1000");
  anonymous.waiting.remove(id);
  const auto repeated = ask("POST", "/jobs/digest?delay=1000", "bytes");
  EXPECT_EQ(repeated.status, 202U);
  EXPECT_EQ(repeated.json()["id"], id);
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "aborted");
  EXPECT_NE(post_kept("/jobs/digest?delay=1000"), id);
}

// Rule: JRN-1
TEST_F(KeptJobs, put_priority_when_the_journal_has_it_then_it_is_answered_and_comes_back) {
  const auto id = post_kept("/jobs/digest?priority=background");
  const auto outcome = begin("PUT", "/jobs/" + id + "?priority=user-blocking");
  EXPECT_EQ(anonymous.jobs.find(id)->priority(), heist::TaskPriority::background);
  EXPECT_EQ(stored(id).priority, heist::TaskPriority::user_blocking);
  EXPECT_EQ(end(outcome).json()["priority"], "user-blocking");
  EXPECT_EQ(anonymous.jobs.find(id)->priority(), heist::TaskPriority::user_blocking);
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  restore_jobs(next, others, kinds);
  run_network();
  const auto restored = (**others.authenticate(std::nullopt)).jobs.find(id);
  EXPECT_EQ(restored->priority(), heist::TaskPriority::user_blocking);
}

TEST_F(KeptJobs, put_priority_when_the_job_ends_before_the_journal_answers_then_409) {
  const auto id = post_kept("/jobs/digest?priority=background");
  const auto outcome = begin("PUT", "/jobs/" + id + "?priority=user-blocking");
  run_kept();
  EXPECT_EQ(end(outcome).error(), "finished");
}

TEST_F(KeptJobs, restore_then_jobs_come_back_in_their_order) {
  std::vector<JobId> ids;
  ask("PUT", "/signals/night?priority=background");
  for (const auto* target : {"/jobs/digest?signal=night", "/jobs/compress?delay=5000",
                             "/jobs/digest?priority=background"}) {
    ids.push_back(post_kept(target));
  }
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  auto& other = **others.authenticate(std::nullopt);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  const auto restored = restore_jobs(next, others, kinds);
  EXPECT_EQ(restored.unfinished, 3U);
  run_network();
  std::vector<JobId> found;
  for (const auto& job : other.jobs.unfinished()) found.push_back(job->id);
  EXPECT_EQ(found, (std::vector{ids[0], ids[2]}));
  EXPECT_EQ(other.jobs.find(ids[0])->priority(), heist::TaskPriority::background);
  EXPECT_EQ(other.waiting.find(ids[1])->state, WaitingJob::State::delayed);
  EXPECT_EQ(other.budget->jobs(), 3U);
}

TEST_F(KeptJobs, restore_when_there_are_more_signals_than_may_be_then_their_jobs_come_back) {
  const auto id = post_kept("/jobs/digest?signal=z");
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  auto& other = **others.authenticate(std::nullopt);
  fill_signals(other, max_signals);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, others, kinds).unfinished, 1U);
  run_network();
  EXPECT_EQ(other.jobs.find(id)->signal_name, "z");
}

TEST_F(KeptJobs, restore_when_the_kind_takes_other_parameters_by_now_then_the_job_stays) {
  const auto id = post_kept("/jobs/search?pattern=b");
  auto kind = search_kind();
  kind.parameters.push_back({.name = "language", .required = true});
  KindTable newer;
  newer.add(std::move(kind));
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, others, newer).left, 1U);
  EXPECT_EQ(stored(id).state, StoredState::queued);
}

TEST_F(KeptJobs, restore_when_the_client_is_not_there_then_its_jobs_stay_in_the_journal) {
  const auto id = post_kept("/jobs/digest");
  const ClientTable none({}, std::nullopt, limits);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, none, kinds).left, 1U);
  EXPECT_EQ(stored(id).state, StoredState::queued);
}

TEST_F(KeptJobs, restore_when_more_jobs_have_finished_than_memory_keeps_then_few_are_loaded) {
  const auto ids = post_many(400, "/jobs/digest");
  while (clients.unfinished_jobs() > 0) run_all();
  auto few = limits;
  few.max_results = 3;
  ClientTable others({}, heist::TaskPriority::user_blocking, few);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, others, kinds).finished, 3U);
  EXPECT_LT(journal.loaded_ended, 100U);
}

}  // namespace
}  // namespace heistd
