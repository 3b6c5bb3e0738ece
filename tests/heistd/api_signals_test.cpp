#include "api_fixture.hpp"

namespace heistd {
namespace {

using ApiSignals = ApiFixture;

TEST_F(ApiSignals, put_when_jobs_wait_then_they_move_together) {
  const auto first = post("/jobs/digest?priority=user-visible");
  const auto member = post("/jobs/digest?signal=g");
  call("PUT", "/signals/g?priority=background");
  EXPECT_EQ(call("GET", member).json()["priority"], "background");
  const auto last = post("/jobs/digest?priority=user-visible");
  call("PUT", "/signals/g?priority=user-blocking");
  run_one();
  EXPECT_EQ(state(member), "done");
  EXPECT_EQ(state(first), "queued");
  run_one();
  EXPECT_EQ(state(first), "done");
  EXPECT_EQ(state(last), "queued");
}

TEST_F(ApiSignals, put_when_name_new_then_201_and_jobs_take_its_priority) {
  EXPECT_EQ(call("PUT", "/signals/g?priority=background").status, 201U);
  EXPECT_EQ(call("PUT", "/signals/g?priority=background").status, 200U);
  EXPECT_EQ(call("GET", post("/jobs/digest?signal=g")).json()["priority"], "background");
}

TEST_F(ApiSignals, put_when_job_has_a_priority_of_its_own_then_it_stays) {
  const auto job = post("/jobs/digest?signal=g&priority=background");
  call("PUT", "/signals/g?priority=user-blocking");
  EXPECT_EQ(call("GET", job).json()["priority"], "background");
}

TEST_F(ApiSignals, delete_when_jobs_wait_then_all_are_aborted_and_others_not) {
  const auto waiting = post("/jobs/digest?signal=g");
  const auto delayed = post("/jobs/digest?signal=g&delay=60000");
  const auto other = post("/jobs/digest?signal=h");
  EXPECT_EQ(call("DELETE", "/signals/g").json()["aborted_jobs"], 2);
  run_all();
  EXPECT_EQ(state(waiting), "aborted");
  EXPECT_EQ(state(delayed), "aborted");
  EXPECT_EQ(state(other), "done");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(ApiSignals, delete_when_done_then_the_name_is_free_again) {
  post("/jobs/digest?signal=g");
  call("DELETE", "/signals/g");
  EXPECT_EQ(call("DELETE", "/signals/g").status, 404U);
  const auto next = post("/jobs/digest?signal=g");
  run_all();
  EXPECT_EQ(state(next), "done");
}

TEST_F(ApiSignals, delete_when_a_job_runs_then_it_ends_with_its_chunk) {
  const auto job = post("/jobs/digest?signal=g", std::string(3 * block_bytes, 'x'));
  run_one();
  call("DELETE", "/signals/g");
  run_all();
  EXPECT_EQ(state(job), "aborted");
  EXPECT_EQ(loop.stats().tasks_run, 1U);  // the chunk
}

TEST_F(ApiSignals, name_when_its_last_job_ends_then_it_is_gone_unless_put) {
  post("/jobs/digest?signal=mentioned");
  post("/jobs/digest?signal=put");
  call("PUT", "/signals/put?priority=background");
  run_all();
  EXPECT_EQ(call("DELETE", "/signals/mentioned").status, 404U);
  EXPECT_EQ(call("DELETE", "/signals/put").status, 200U);
}

TEST_F(ApiSignals, delete_job_when_in_a_group_then_only_it_is_aborted) {
  const auto job = post("/jobs/digest?signal=g&delay=60000", std::string(1000, 'x'));
  const auto other = post("/jobs/digest?signal=g");
  call("DELETE", job);
  run_all();
  EXPECT_EQ(state(job), "aborted");
  EXPECT_EQ(state(other), "done");
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(ApiSignals, put_when_too_many_names_then_503) {
  for (std::size_t i = 0; i < max_signals; ++i) {
    ASSERT_EQ(call("PUT", "/signals/s" + std::to_string(i) + "?priority=background").status, 201U);
  }
  EXPECT_EQ(call("PUT", "/signals/more?priority=background").error(), "too_many_signals");
  EXPECT_EQ(call("POST", "/jobs/digest?signal=more", "x").error(), "too_many_signals");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

}  // namespace
}  // namespace heistd
