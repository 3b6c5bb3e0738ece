// What clients with many jobs may ask for costs the network thread few steps at a time.
#include "api_fixture.hpp"

namespace heistd {
namespace {

struct ManyJobs : ApiFixture {
  Json level(std::size_t index) { return call("GET", "/stats").json()["levels"][index]; }
  std::size_t aborted() { return level(1)["aborted"]; }
};

TEST_F(ManyJobs,
       delete_when_a_signal_has_many_jobs_then_a_batch_at_a_time_but_all_count_as_aborted) {
  constexpr auto count = 3 * jobs_at_a_time;
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < count; ++i) jobs.push_back(post("/jobs/digest?signal=g"));
  EXPECT_EQ(call("DELETE", "/signals/g").json()["aborted_jobs"], count);
  EXPECT_EQ(aborted(), jobs_at_a_time);
  // One that is asked for does not wait for its batch.
  for (const auto& job : jobs) {
    if (aborted() == jobs_at_a_time + 1) break;
    EXPECT_EQ(call("GET", job).json()["error"]["message"], "the signal was deleted");
  }
  const auto before = aborted();
  while (aborted() == before) ASSERT_TRUE(step_network());
  EXPECT_LE(aborted(), before + jobs_at_a_time);
  run_all();
  EXPECT_EQ(aborted(), count);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(level(1)["chunks"], 0);
}

TEST_F(ManyJobs, delete_when_later_batches_jobs_come_up_first_then_they_do_no_work) {
  for (std::size_t i = 0; i < 2 * jobs_at_a_time; ++i) post("/jobs/digest?signal=g");
  call("DELETE", "/signals/g");
  loop.run_until_idle();  // before the network's next step
  run_all();
  EXPECT_EQ(aborted(), 2 * jobs_at_a_time);
  EXPECT_EQ(level(1)["chunks"], 0);
}

TEST_F(ManyJobs, put_when_a_signal_has_many_jobs_then_a_batch_at_a_time_follows) {
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < 2 * jobs_at_a_time + 1; ++i) {
    jobs.push_back(post("/jobs/digest?signal=g"));
  }
  const auto other = post("/jobs/digest?priority=user-visible");
  call("PUT", "/signals/g?priority=background");
  // All show it at once; those beyond the first batch run as before, until the network's next
  // steps.
  EXPECT_EQ(call("GET", jobs.back()).json()["priority"], "background");
  loop.run_one();
  EXPECT_EQ(state(jobs[jobs_at_a_time]), "running");
  EXPECT_TRUE(step_network());
  EXPECT_TRUE(step_network());
  EXPECT_EQ(state(jobs[jobs_at_a_time]), "done");
  EXPECT_TRUE(step_network());
  EXPECT_FALSE(step_network());
  run_one();
  EXPECT_EQ(state(other), "done");
  run_one();
  EXPECT_EQ(state(jobs[0]), "done");
  run_all();
  EXPECT_EQ(state(jobs.back()), "done");
}

TEST_F(ManyJobs, put_when_the_last_one_is_still_on_its_way_then_all_have_the_newest) {
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < 3 * jobs_at_a_time; ++i) {
    jobs.push_back(post("/jobs/digest?signal=g"));
  }
  call("PUT", "/signals/g?priority=background");
  EXPECT_TRUE(step_network());
  call("DELETE", jobs[2 * jobs_at_a_time]);  // which would be the next to follow
  call("PUT", "/signals/g?priority=user-blocking");
  run_network();
  const auto other = post("/jobs/digest?priority=user-blocking");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i == 2 * jobs_at_a_time) continue;
    run_one();
    EXPECT_EQ(state(jobs[i]), "done") << i;
  }
  EXPECT_EQ(state(other), "queued");
}

TEST_F(ManyJobs, put_when_a_signal_has_several_batches_then_all_move_and_keep_their_order) {
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < jobs_at_a_time + 2; ++i)
    jobs.push_back(post("/jobs/digest?signal=g"));
  const auto other = post("/jobs/digest?priority=user-visible");
  call("PUT", "/signals/g?priority=user-blocking");
  for (const auto& job : jobs) {
    run_one();
    EXPECT_EQ(state(job), "done");
  }
  EXPECT_EQ(state(other), "queued");
}

TEST_F(ManyJobs, shutdown_when_all_jobs_are_aborted_then_a_batch_of_any_clients_at_a_time) {
  constexpr auto first = jobs_at_a_time + jobs_at_a_time / 2;
  constexpr auto second = jobs_at_a_time;
  for (std::size_t i = 0; i < first; ++i) post("/jobs/digest");
  authorization = "Bearer a";
  for (std::size_t i = 0; i < second; ++i) post("/jobs/digest?signal=g");
  std::vector<std::size_t> steps;
  while (const auto aborted = service.abort_some(clients, "the test")) steps.push_back(aborted);
  EXPECT_EQ(steps, (std::vector{jobs_at_a_time, jobs_at_a_time, jobs_at_a_time / 2}));
  EXPECT_EQ(clients.unfinished_jobs(), 0U);
  run_all();
  EXPECT_EQ(loop.stats().tasks_run, 0U);
}

TEST_F(ManyJobs, stats_when_jobs_change_their_state_then_counted_where_they_are) {
  post("/jobs/digest?signal=g&delay=60000");
  post("/jobs/digest?signal=g", std::string(3 * block_bytes, 'x'));
  post("/jobs/digest?signal=g&priority=background");
  run_one();
  const auto expect = [this](std::size_t index, int delayed, int queued, int running) {
    const auto json = level(index);
    EXPECT_EQ(json["delayed"], delayed) << index;
    EXPECT_EQ(json["queued"], queued) << index;
    EXPECT_EQ(json["running"], running) << index;
    EXPECT_EQ(json["depth"], queued + running) << index;
  };
  expect(1, 1, 0, 1);
  expect(2, 0, 1, 0);
  call("PUT", "/signals/g?priority=user-blocking");
  expect(0, 1, 0, 1);
  expect(1, 0, 0, 0);
  expect(2, 0, 1, 0);
  call("DELETE", "/signals/g");
  run_all();
  for (std::size_t index = 0; index < 3; ++index) expect(index, 0, 0, 0);
}

}  // namespace
}  // namespace heistd
