// In which order jobs of several chunks run. Rule: YLD-1, YLD-2: a job that has begun yields as a
// continuation.
#include "api_fixture.hpp"

namespace heistd {
namespace {

class JobTurns : public ApiFixture {
 protected:
  const std::string two_blocks = std::string(2 * block_bytes, 'x');
  const std::string three_blocks = std::string(3 * block_bytes, 'x');
};

TEST_F(JobTurns, job_when_it_has_begun_then_it_goes_on_before_others_of_its_priority) {
  const auto first = post("/jobs/digest", two_blocks);
  const auto second = post("/jobs/digest");
  run_one();
  EXPECT_EQ(state(first), "running");
  EXPECT_EQ(state(second), "queued");
  run_one();
  EXPECT_EQ(state(first), "done");
  EXPECT_EQ(state(second), "queued");
  run_one();
  EXPECT_EQ(state(second), "done");
}

TEST_F(JobTurns, job_when_one_of_a_higher_priority_comes_then_that_waits_for_one_chunk) {
  const auto slow = post("/jobs/digest?priority=background", two_blocks);
  run_one();
  const auto urgent = post("/jobs/digest?priority=user-visible");
  run_one();
  EXPECT_EQ(state(urgent), "done");
  EXPECT_EQ(state(slow), "running");
}

TEST_F(JobTurns, group_when_its_priority_falls_between_two_chunks_then_the_next_one_waits) {
  const auto member = post("/jobs/digest?signal=g", two_blocks);
  run_one();
  const auto other = post("/jobs/digest?priority=user-visible");
  call("PUT", "/signals/g?priority=background");
  run_one();
  EXPECT_EQ(state(other), "done");
  EXPECT_EQ(state(member), "running");
  run_one();
  EXPECT_EQ(state(member), "done");
}

TEST_F(JobTurns, jobs_when_two_of_a_priority_have_begun_then_they_take_turns) {
  const auto first = post("/jobs/digest?priority=background&signal=g", three_blocks);
  run_one();
  const auto second = post("/jobs/digest?signal=h", three_blocks);
  run_one();
  call("PUT", "/signals/h?priority=background");
  run_one(), run_one();
  EXPECT_EQ(state(first), "running");
  EXPECT_EQ(state(second), "running");
  run_one();
  EXPECT_EQ(state(first), "done");
  EXPECT_EQ(state(second), "running");
  run_one();
  EXPECT_EQ(state(second), "done");
}

TEST_F(JobTurns, abort_when_between_two_chunks_then_no_other_one_runs_and_nothing_is_kept) {
  const auto job = post("/jobs/compress", three_blocks);
  run_one();
  call("DELETE", job);
  run_all();
  EXPECT_EQ(state(job), "aborted");
  EXPECT_EQ(loop.stats().tasks_run, 1U);  // the chunk
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(JobTurns, abort_when_alone_in_its_group_between_two_chunks_then_no_other_one_runs) {
  const auto job = post("/jobs/digest?signal=g", three_blocks);
  run_one();
  call("DELETE", job);
  run_all();
  EXPECT_EQ(state(job), "aborted");
  EXPECT_EQ(loop.stats().tasks_run, 1U);  // the chunk
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(JobTurns, loop_when_closed_between_two_chunks_then_the_job_is_given_up) {
  post("/jobs/digest", three_blocks);
  run_one();
  loop.close(heist::CloseMode::abort());
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

}  // namespace
}  // namespace heistd
