// Kinds and signals that are paused, without a journal.
#include <string>
#include <vector>

#include "api_fixture.hpp"

namespace heistd {
namespace {

class Pauses : public ApiFixture {
 protected:
  unsigned ask(const std::string& target) { return call("POST", target).status; }
  bool is_paused(std::string_view list, std::string_view key, std::string_view name) {
    const auto all = call("GET", "/" + std::string(list)).json()[std::string(list)];
    for (const auto& entry : all) {
      if (entry[std::string(key)] == name) return entry["paused"];
    }
    ADD_FAILURE() << "there is no " << name;
    return false;
  }
};

TEST_F(Pauses, kind_when_paused_then_none_of_its_jobs_starts_until_it_is_resumed) {
  const auto before = post("/jobs/digest");
  EXPECT_EQ(ask("/kinds/digest/pause"), 200U);
  EXPECT_TRUE(is_paused("kinds", "kind", "digest"));
  const auto after = post("/jobs/digest?priority=user-blocking");
  const auto later = post("/jobs/digest?delay=10");
  const auto other = post("/jobs/compress");
  run_all();
  loop.advance(std::chrono::milliseconds(20));
  run_all();
  for (const auto& job : {before, after}) EXPECT_EQ(state(job), "queued");
  EXPECT_EQ(state(other), "done");
  EXPECT_FALSE(service.has_runnable_jobs());
  EXPECT_EQ(ask("/kinds/digest/resume"), 200U);
  EXPECT_FALSE(is_paused("kinds", "kind", "digest"));
  EXPECT_TRUE(service.has_runnable_jobs());
  run_all();
  for (const auto& job : {before, after, later}) EXPECT_EQ(state(job), "done");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(Pauses, signal_when_paused_then_its_jobs_wait_and_running_ones_go_on) {
  const auto running = post("/jobs/digest?signal=night", std::string(2 * block_bytes, 'x'));
  run_one();
  ASSERT_EQ(state(running), "running");
  EXPECT_EQ(ask("/signals/night/pause"), 200U);
  EXPECT_TRUE(is_paused("signals", "signal", "night"));
  const auto waits = post("/jobs/digest?signal=night&priority=user-blocking");
  run_all();
  EXPECT_EQ(state(running), "done");
  EXPECT_EQ(state(waits), "queued");
  call("PUT", "/signals/night?priority=background");
  EXPECT_TRUE(is_paused("signals", "signal", "night"));
  EXPECT_EQ(ask("/signals/night/resume"), 200U);
  run_all();
  EXPECT_EQ(state(waits), "done");
}

TEST_F(Pauses, resume_when_the_job_is_paused_otherwise_then_it_still_waits) {
  ask("/signals/night/pause");
  ask("/kinds/digest/pause");
  const auto job = post("/jobs/digest?signal=night");
  run_all();
  ask("/kinds/digest/resume");
  run_all();
  EXPECT_EQ(state(job), "queued");
  ask("/signals/night/resume");
  ask("/signals/night/pause");
  run_all();
  EXPECT_EQ(state(job), "queued");
  ask("/signals/night/resume");
  run_all();
  EXPECT_EQ(state(job), "done");
}

TEST_F(Pauses, resume_when_many_wait_then_they_start_in_their_order) {
  ask("/kinds/digest/pause");
  std::vector<std::string> jobs;
  for (int i = 0; i < 100; ++i) jobs.push_back(post("/jobs/digest"));
  run_all();
  ask("/kinds/digest/resume");
  run_network();
  for (const auto& job : jobs) {
    EXPECT_EQ(state(job), "queued");
    loop.run_one();
    EXPECT_EQ(state(job), "running");
    run_network();
  }
}

TEST_F(Pauses, abort_when_the_job_is_held_then_its_memory_is_free_at_once) {
  ask("/kinds/digest/pause");
  const auto job = post("/jobs/digest");
  run_all();
  EXPECT_EQ(call("DELETE", job).json()["state"], "aborted");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_TRUE(anonymous.held.empty());
}

TEST_F(Pauses, put_priority_when_the_job_is_held_then_it_starts_with_that) {
  ask("/kinds/digest/pause");
  const auto first = post("/jobs/digest");
  const auto urgent = post("/jobs/digest?priority=background");
  run_all();
  call("PUT", urgent + "?priority=user-blocking");
  ask("/kinds/digest/resume");
  run_one();
  EXPECT_EQ(state(urgent), "done");
  EXPECT_EQ(state(first), "queued");
}

// Rule: SEC-1
TEST_F(Pauses, kind_when_one_client_pauses_it_then_another_ones_jobs_start) {
  authorization = "Bearer a";
  ask("/kinds/digest/pause");
  authorization = "Bearer b";
  EXPECT_FALSE(is_paused("kinds", "kind", "digest"));
  const auto job = post("/jobs/digest");
  run_all();
  EXPECT_EQ(state(job), "done");
}

TEST_F(Pauses, pause_when_there_is_no_such_thing_then_404) {
  EXPECT_EQ(ask("/kinds/other/pause"), 404U);
  EXPECT_EQ(ask("/signals/night/resume"), 404U);
  EXPECT_EQ(call("POST", "/signals/night/pause?x=1").error(), "bad_parameter");
  EXPECT_EQ(call("POST", "/signals/a%20b/pause").error(), "bad_name");
}

}  // namespace
}  // namespace heistd
