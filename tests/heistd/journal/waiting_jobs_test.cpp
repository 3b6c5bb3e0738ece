// Jobs that a journal keeps and that wait for their turn, of which memory has a record only.
#include <heistd/job_restore.hpp>
#include <heistd/turns.hpp>
#include <heistd/waiting_jobs.hpp>
#include <vector>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;

constexpr auto most_posted = WaitingJobs::most_posted;

class WaitingJobsTest : public KeptJobs {
 protected:
  /// As many background jobs as make any other one wait.
  std::vector<JobId> fill() {
    return post_many(most_posted + 1, "/jobs/digest?priority=background");
  }
  /// The id of a job that waits, behind those of fill().
  JobId post_waiting(std::string_view query = {}) {
    const auto id = post_kept("/jobs/digest?priority=background" + std::string(query));
    EXPECT_TRUE(waits(id));
    return id;
  }
  bool waits(const JobId& id) { return anonymous.waiting.find(id) != nullptr; }
  bool is_posted(const JobId& id) { return anonymous.jobs.find(id) && !waits(id); }
  void run_until_done(const std::vector<JobId>& ids) {
    for (const auto& id : ids) {
      while (stored(id).state != StoredState::done) run_all();
    }
  }
  /// As if so much time had passed.
  void pass(std::chrono::seconds time) {
    anonymous.waiting.wake_some(Clock::now() + time);
    kept.post_waiting(anonymous);
    run_network();
  }
  Depth depth(TaskPriority priority) {
    return anonymous.depths().at(static_cast<std::size_t>(priority));
  }
};

// Rule: JRN-5
TEST_F(WaitingJobsTest, post_when_many_wait_then_few_are_posted_and_all_get_done_in_their_order) {
  const auto ids = post_many(3 * most_posted, "/jobs/digest?priority=background");
  EXPECT_EQ(anonymous.jobs.unfinished().size(), most_posted);
  EXPECT_EQ(anonymous.waiting.size(), 2 * most_posted);
  EXPECT_EQ(depth(TaskPriority::background).queued, 3 * most_posted);
  std::vector<JobId> started;
  while (started.size() < ids.size()) {
    loop.run_one();
    while (step_network()) {
      for (const auto& id : ids) {
        if (stored(id).attempt == 1 && std::ranges::find(started, id) == started.end()) {
          started.push_back(id);
        }
      }
    }
  }
  EXPECT_EQ(started, ids);
  run_until_done(ids);
  EXPECT_EQ(anonymous.waiting.size(), 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
  EXPECT_EQ(depth(TaskPriority::background).queued, 0U);
}

// Rule: JRN-5
TEST_F(WaitingJobsTest, post_when_less_urgent_jobs_wait_then_it_is_posted_at_once) {
  fill();
  post_waiting();
  EXPECT_TRUE(is_posted(post_kept("/jobs/digest?priority=user-blocking")));
}

TEST_F(WaitingJobsTest, post_when_only_some_of_a_kind_run_at_a_time_then_others_do_not_wait) {
  auto program = digest_kind();
  program.name = "program";
  program.at_a_time = 1;
  kinds.add(std::move(program));
  const auto programs = post_many(most_posted + 1, "/jobs/program");
  EXPECT_TRUE(waits(programs.back()));
  EXPECT_TRUE(is_posted(post_kept("/jobs/digest")));
}

TEST_F(WaitingJobsTest, get_when_it_waits_then_it_is_queued_and_has_no_result) {
  fill();
  const auto accepted = ask("POST", "/jobs/digest?priority=background&max_attempts=7", "bytes");
  const JobId id = accepted.json()["id"];
  EXPECT_EQ(accepted.header("Location"), "/jobs/" + id);
  EXPECT_EQ(accepted.json(), ask("GET", "/jobs/" + id).json());
  EXPECT_EQ(accepted.json()["state"], "queued");
  EXPECT_EQ(ask("GET", "/jobs/" + id + "/result").error(), "not_finished");
  while (!is_posted(id)) run_all();
  EXPECT_EQ(accepted.json(), ask("GET", "/jobs/" + id).json());
}

TEST_F(WaitingJobsTest, delete_when_it_waits_then_it_never_runs) {
  const auto others = fill();
  const auto id = post_waiting();
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["state"], "aborted");
  EXPECT_FALSE(waits(id));
  EXPECT_EQ(anonymous.stats_of(TaskPriority::background).aborted, 1U);
  run_until_done(others);
  run_kept();
  EXPECT_EQ(stored(id).attempt, 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(WaitingJobsTest, delete_when_it_is_just_being_read_then_it_never_runs) {
  fill();
  const auto id = post_waiting();
  while (anonymous.waiting.find(id)->state != WaitingJob::State::taken) {
    if (!step_network()) loop.run_one();
  }
  said(journal.abort(id, aborted_because(job_deleted)));
  kept.abort_waiting(anonymous, id);
  run_kept();
  EXPECT_EQ(anonymous.jobs.find(id), nullptr);
  EXPECT_EQ(stored(id).attempt, 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-5
TEST_F(WaitingJobsTest, post_when_the_one_before_it_is_just_being_read_then_it_waits) {
  const auto others = fill();
  const auto& line = *anonymous.waiting.find(others.back())->line;
  loop.run_until_idle();
  while (line.being_read.empty() || line.posted >= most_posted) ASSERT_TRUE(step_network());
  Turns turns;
  turns.add(anonymous);
  EXPECT_TRUE(turns.must_wait(anonymous, line));
}

TEST_F(WaitingJobsTest, put_priority_when_it_waits_then_it_is_posted_with_that) {
  fill();
  const auto id = post_waiting();
  EXPECT_EQ(ask("PUT", "/jobs/" + id + "?priority=user-blocking").json()["priority"],
            "user-blocking");
  run_network();
  EXPECT_TRUE(is_posted(id));
  EXPECT_EQ(anonymous.jobs.find(id)->priority(), TaskPriority::user_blocking);
  EXPECT_EQ(depth(TaskPriority::user_blocking).queued, 1U);
}

// Rule: JRN-5
TEST_F(WaitingJobsTest, put_signal_when_its_jobs_wait_then_they_are_posted_in_their_order) {
  fill();
  ask("PUT", "/signals/night?priority=background");
  const auto ids = post_many(3, "/jobs/digest?signal=night");
  for (const auto& id : ids) EXPECT_TRUE(waits(id));
  EXPECT_EQ(depth(TaskPriority::background).queued, most_posted + 4);
  EXPECT_EQ(ask("PUT", "/signals/night?priority=user-blocking").json()["unfinished_jobs"], 3);
  EXPECT_EQ(depth(TaskPriority::user_blocking).queued, 3U);
  run_network();
  std::vector<JobId> posted;
  for (const auto& job : anonymous.signals.find("night")->jobs()) posted.push_back(job->id);
  EXPECT_EQ(posted, ids);
}

TEST_F(WaitingJobsTest,
       delete_signal_when_its_jobs_wait_then_all_are_aborted_and_the_name_is_free) {
  fill();
  const auto ids = post_many(2 * jobs_at_a_time, "/jobs/digest?priority=background&signal=night");
  const auto delayed = post_kept("/jobs/digest?signal=night&delay=5000");
  EXPECT_EQ(ask("DELETE", "/signals/night").json()["aborted_jobs"], ids.size() + 1);
  run_network();
  for (const auto& id : ids) EXPECT_FALSE(waits(id));
  EXPECT_FALSE(waits(delayed));
  EXPECT_EQ(anonymous.signals.find("night"), nullptr);
  EXPECT_EQ(anonymous.budget->jobs(), most_posted + 1);
}

TEST_F(WaitingJobsTest, delete_when_it_is_the_last_of_its_signal_then_the_name_is_free) {
  fill();
  const auto id = post_waiting("&signal=night");
  ask("DELETE", "/jobs/" + id);
  EXPECT_EQ(anonymous.signals.find("night"), nullptr);
}

TEST_F(WaitingJobsTest, post_when_the_request_waits_for_its_end_then_it_keeps_its_turn) {
  const auto others = fill();
  const auto before = post_waiting();
  const auto outcome = begin("POST", "/jobs/digest?priority=background&wait=1", "bytes");
  run_network();
  auto waiting = std::get<Waiting>(std::get<Storing>(outcome).then());
  const auto job = waiting.job;
  EXPECT_TRUE(waits(job->id));
  EXPECT_EQ(job->state(), JobState::queued);
  EXPECT_EQ(depth(TaskPriority::background).queued, most_posted + 3);
  run_until_done({job->id});
  run_kept();
  EXPECT_EQ(stored(before).state, StoredState::done);
  EXPECT_TRUE(job->finished());
  EXPECT_EQ(kept_api.waited(*job).status, 200U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(WaitingJobsTest, post_when_who_waits_for_it_goes_then_it_is_aborted) {
  fill();
  const auto outcome = begin("POST", "/jobs/digest?priority=background&wait=1", "bytes");
  run_network();
  const auto waiting = std::get<Waiting>(std::get<Storing>(outcome).then());
  kept_api.drop(waiting);
  EXPECT_FALSE(waits(waiting.job->id));
  EXPECT_EQ(stored(waiting.job->id).state, StoredState::aborted);
  EXPECT_EQ(anonymous.budget->jobs(), most_posted + 1);
}

TEST_F(WaitingJobsTest, get_when_the_request_waits_for_the_end_then_it_hears_of_it) {
  fill();
  const auto id = post_waiting();
  const auto outcome = begin("GET", "/jobs/" + id + "?wait=30s");
  run_network();
  const auto job = std::get<Waiting>(std::get<Storing>(outcome).then()).job;
  EXPECT_EQ(job->id, id);
  run_until_done({id});
  run_kept();
  EXPECT_EQ(job->state(), JobState::done);
}

TEST_F(WaitingJobsTest, post_when_its_key_stands_for_one_that_waits_then_that_is_the_answer) {
  fill();
  key = "once";
  const auto first = ask("POST", "/jobs/digest?priority=background", "bytes");
  EXPECT_TRUE(waits(first.json()["id"]));
  const auto again = ask("POST", "/jobs/digest?priority=background", "bytes");
  EXPECT_EQ(again.status, 202U);
  EXPECT_EQ(again.json(), first.json());
}

TEST_F(WaitingJobsTest, post_when_it_has_a_delay_then_it_waits_for_that_first) {
  const auto late = post_kept("/jobs/digest?delay=5000");
  const auto soon = post_kept("/jobs/digest?delay=2000");
  EXPECT_EQ(state_of(late), "delayed");
  EXPECT_EQ(depth(TaskPriority::user_visible).delayed, 2U);
  pass(std::chrono::seconds(3));
  EXPECT_TRUE(is_posted(soon));
  EXPECT_FALSE(is_posted(late));
  pass(std::chrono::seconds(6));
  EXPECT_TRUE(is_posted(late));
  EXPECT_EQ(depth(TaskPriority::user_visible).delayed, 0U);
}

/// Of jobs of which the journal does not know.
class RecordsTest : public WaitingJobsTest {
 protected:
  RecordsTest() {
    post_kept("/jobs/digest?priority=user-blocking");  // the first one of a client brings its turns
  }
  JobId add(Clock::time_point runnable_at, const std::shared_ptr<JobLine>& line,
            Clock::time_point expires_at = Clock::time_point::max()) {
    auto id = make_job_id();
    anonymous.waiting.add(id, line, {runnable_at, expires_at});
    return id;
  }
  /// One whose delay is over, and that has not been woken.
  JobId add_due(const std::shared_ptr<JobLine>& line) {
    const auto runnable_at = Clock::now() + std::chrono::milliseconds(1);
    auto id = add(runnable_at, line);
    while (Clock::now() <= runnable_at) {
    }
    return id;
  }
  std::shared_ptr<JobLine> line_of(TaskPriority priority, const std::string& kind_name = "digest") {
    const auto& kind = *kinds.find(kind_name);
    return anonymous.waiting.line_of("", nullptr, priority, anonymous.counts_of(priority), kind,
                                     anonymous.kind_pauses.of(kind));
  }
  [[nodiscard]] WaitingJob::State state(const JobId& id) {
    return anonymous.waiting.find(id)->state;
  }

  const std::shared_ptr<JobLine> background = line_of(TaskPriority::background);
  const std::shared_ptr<JobLine> urgent = line_of(TaskPriority::user_blocking);
};

TEST_F(RecordsTest, wake_when_many_delays_are_over_then_a_batch_at_a_time_has_its_turn) {
  add_due(background);
  for (std::size_t i = 1; i < 3 * jobs_at_a_time; ++i) add(Clock::now(), background);
  EXPECT_EQ(depth(TaskPriority::background).delayed, 3 * jobs_at_a_time);
  kept.post_waiting(anonymous);
  EXPECT_EQ(depth(TaskPriority::background).delayed, 2 * jobs_at_a_time);
  run_network();
  EXPECT_EQ(anonymous.waiting.size(), 0U);
}

// Rule: JRN-5
TEST_F(RecordsTest, add_when_others_have_not_been_woken_then_it_comes_behind_them) {
  const auto before = add_due(background);
  const auto behind = add(Clock::now(), line_of(TaskPriority::background, "search"));
  EXPECT_EQ(state(behind), WaitingJob::State::delayed);
  EXPECT_TRUE(Turns().must_wait(anonymous, *line_of(TaskPriority::background, "search")));
  anonymous.waiting.wake_some(Clock::now());
  EXPECT_LT(anonymous.waiting.find(before)->turn, anonymous.waiting.find(behind)->turn);
  EXPECT_EQ(state(behind), WaitingJob::State::in_line);
}

TEST_F(RecordsTest, add_when_less_urgent_ones_have_not_been_woken_then_it_does_not_wait_for_them) {
  add_due(background);
  EXPECT_FALSE(Turns().must_wait(anonymous, *urgent));
  EXPECT_EQ(state(add(Clock::now(), urgent)), WaitingJob::State::in_line);
}

TEST_F(RecordsTest, wake_when_less_urgent_ones_were_due_before_then_the_urgent_one_is_woken_first) {
  add_due(background);
  for (std::size_t i = 0; i < jobs_at_a_time; ++i) add(Clock::now(), background);
  const auto id = add_due(urgent);
  EXPECT_EQ(state(id), WaitingJob::State::delayed);
  anonymous.waiting.wake_some(Clock::now());
  EXPECT_EQ(state(id), WaitingJob::State::in_line);
}

TEST_F(RecordsTest, add_when_others_have_expired_then_it_does_not_wait_for_these) {
  const auto late = add(Clock::now(), background, Clock::now());
  EXPECT_EQ(state(add(Clock::now(), background)), WaitingJob::State::in_line);
  EXPECT_EQ(anonymous.waiting.expired(Clock::now()), late);
  EXPECT_FALSE(Turns().must_wait(anonymous, *urgent));
}

TEST_F(WaitingJobsTest, get_when_too_many_wait_for_ends_then_503_and_there_is_no_job) {
  fill();
  const auto id = post_waiting();
  std::vector<Quota::Share> shares;
  while (auto share = anonymous.take_wait()) shares.push_back(std::move(*share));
  EXPECT_EQ(ask("GET", "/jobs/" + id + "?wait=30s").error(), "too_many_waits");
  EXPECT_EQ(anonymous.jobs.find(id), nullptr);
}

TEST_F(WaitingJobsTest, get_when_the_result_is_deleted_before_it_is_read_then_404) {
  const auto id = post_kept("/jobs/digest");
  run_until_done({id});
  run_kept();
  anonymous.jobs.drop(*anonymous.jobs.find(id));
  EXPECT_EQ(ask("GET", "/jobs/" + id + "/result").status, 200U);
  const auto outcome = begin("GET", "/jobs/" + id + "/result");
  run_network();
  said(journal.purge(id));
  EXPECT_EQ(end(std::get<Storing>(outcome).then()).status, 404U);
}

TEST_F(WaitingJobsTest, delete_signal_when_a_job_of_it_is_just_being_read_then_it_never_runs) {
  const auto others = fill();
  const auto id = post_waiting("&signal=night");
  while (anonymous.waiting.find(id)->state != WaitingJob::State::taken) {
    if (!step_network()) loop.run_one();
  }
  kept.abort_group(anonymous, "night");
  run_kept();
  EXPECT_FALSE(waits(id));
  EXPECT_EQ(anonymous.jobs.find(id), nullptr);
  EXPECT_EQ(anonymous.signals.find("night"), nullptr);
}

/// Real time has to pass, as the network's timer has no other.
TEST_F(WaitingJobsTest, post_when_it_has_a_short_delay_then_the_timer_wakes_it) {
  const auto id = post_kept("/jobs/digest?delay=1");
  while (!is_posted(id)) {
    network.restart();
    network.run_one();
  }
}

TEST_F(WaitingJobsTest, restore_when_many_wait_then_few_are_posted) {
  const auto ids = post_many(2 * most_posted, "/jobs/digest");
  ClientTable others({}, TaskPriority::user_blocking, limits);
  auto& other = **others.authenticate(std::nullopt);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, others, kinds).unfinished, ids.size());
  EXPECT_EQ(other.waiting.size(), ids.size());
  run_network();
  EXPECT_EQ(other.waiting.size(), most_posted);
  EXPECT_EQ(other.budget->jobs(), ids.size());
}

}  // namespace
}  // namespace heistd
