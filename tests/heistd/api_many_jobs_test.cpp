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
  constexpr auto count = 3 * JobBatch::max_jobs;
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < count; ++i) jobs.push_back(post("/jobs/digest?signal=g"));
  EXPECT_EQ(call("DELETE", "/signals/g").json()["aborted_jobs"], count);
  EXPECT_EQ(aborted(), JobBatch::max_jobs);
  // One that is asked for does not wait for its batch.
  for (const auto& job : jobs) {
    if (aborted() == JobBatch::max_jobs + 1) break;
    EXPECT_EQ(call("GET", job).json()["error"]["message"], "the signal was deleted");
  }
  EXPECT_TRUE(mail.open_one());
  EXPECT_LE(aborted(), 2 * JobBatch::max_jobs + 1);
  run_all();
  EXPECT_EQ(aborted(), count);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(level(1)["chunks"], 0);
}

TEST_F(ManyJobs, delete_when_later_batches_jobs_come_up_first_then_they_do_no_work) {
  for (std::size_t i = 0; i < 2 * JobBatch::max_jobs; ++i) post("/jobs/digest?signal=g");
  call("DELETE", "/signals/g");
  loop.run_until_idle();  // before the network's next step
  run_all();
  EXPECT_EQ(aborted(), 2 * JobBatch::max_jobs);
  EXPECT_EQ(level(1)["chunks"], 0);
}

TEST_F(ManyJobs, batch_when_jobs_are_large_then_it_takes_fewer) {
  SignalGroup group(heist::TaskPriority::background);
  const auto first = group.batch_for(JobBatch::max_bytes);
  first->bytes = JobBatch::max_bytes;
  EXPECT_NE(group.batch_for(1), first);
  EXPECT_EQ(group.batches().size(), 2U);
}

TEST_F(ManyJobs, put_when_a_signal_has_several_batches_then_all_move_and_keep_their_order) {
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < JobBatch::max_jobs + 2; ++i)
    jobs.push_back(post("/jobs/digest?signal=g"));
  const auto other = post("/jobs/digest?priority=user-visible");
  call("PUT", "/signals/g?priority=user-blocking");
  for (const auto& job : jobs) {
    run_one();
    EXPECT_EQ(state(job), "done");
  }
  EXPECT_EQ(state(other), "queued");
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
