// The priority of one job, which changes while it waits or runs.
#include <gtest/gtest.h>

#include "api_fixture.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;

class JobPriority : public ApiFixture {
 protected:
  /// Unfinished jobs of a priority, as /stats has them.
  Depth depth(TaskPriority priority) {
    return anonymous.depths().at(static_cast<std::size_t>(priority));
  }
};

TEST_F(JobPriority, put_when_the_job_waits_then_it_goes_before_what_was_more_urgent) {
  const auto low = post("/jobs/digest?priority=background");
  const auto high = post("/jobs/digest?priority=user-visible");
  const auto put = call("PUT", low + "?priority=user-blocking");
  EXPECT_EQ(put.status, 200U) << put.body;
  EXPECT_EQ(put.json()["priority"], "user-blocking");
  run_one();
  EXPECT_EQ(state(low), "done");
  EXPECT_EQ(state(high), "queued");
}

TEST_F(JobPriority, put_when_the_job_runs_then_its_next_chunk_waits_for_what_is_more_urgent) {
  const auto running =
      post("/jobs/digest?priority=user-blocking", std::string(3 * block_bytes, 'x'));
  run_one();
  const auto waiting = post("/jobs/digest?priority=user-visible");
  EXPECT_EQ(call("PUT", running + "?priority=background").status, 200U);
  run_one();
  EXPECT_EQ(state(waiting), "done");
  EXPECT_EQ(state(running), "running");
  run_all();
  EXPECT_EQ(state(running), "done");
}

TEST_F(JobPriority, put_when_the_job_is_delayed_then_it_becomes_runnable_at_its_time) {
  const auto later = post("/jobs/digest?priority=background&delay=1000");
  EXPECT_EQ(call("PUT", later + "?priority=user-blocking").json()["state"], "delayed");
  EXPECT_EQ(depth(TaskPriority::user_blocking).delayed, 1U);
  loop.advance(std::chrono::milliseconds(1000));
  run_all();
  EXPECT_EQ(state(later), "done");
  EXPECT_EQ(anonymous.stats_of(TaskPriority::user_blocking).done, 1U);
}

TEST_F(JobPriority, put_then_the_job_counts_where_it_is_whatever_it_is_at) {
  const auto job = post("/jobs/digest?priority=background", std::string(2 * block_bytes, 'x'));
  call("PUT", job + "?priority=user-visible");
  EXPECT_EQ(depth(TaskPriority::background).queued, 0U);
  EXPECT_EQ(depth(TaskPriority::user_visible).queued, 1U);
  run_one();
  EXPECT_EQ(depth(TaskPriority::user_visible).running, 1U);
  call("PUT", job + "?priority=user-blocking");
  EXPECT_EQ(depth(TaskPriority::user_visible).running, 0U);
  EXPECT_EQ(depth(TaskPriority::user_blocking).running, 1U);
  call("PUT", job + "?priority=user-blocking");
  run_all();
  for (const auto priority :
       {TaskPriority::background, TaskPriority::user_visible, TaskPriority::user_blocking}) {
    EXPECT_EQ(depth(priority).running + depth(priority).queued, 0U);
  }
  EXPECT_EQ(anonymous.stats_of(TaskPriority::user_visible).done, 1U);
}

TEST_F(JobPriority, put_when_the_job_follows_its_signal_then_409_unless_it_has_its_own) {
  const auto follows = post("/jobs/digest?signal=night");
  const auto refused = call("PUT", follows + "?priority=background");
  EXPECT_EQ(refused.status, 409U);
  EXPECT_EQ(refused.error(), "follows_signal");
  const auto own = post("/jobs/digest?signal=night&priority=user-visible");
  EXPECT_EQ(call("PUT", own + "?priority=background").status, 200U);
  call("PUT", "/signals/night?priority=user-blocking");
  EXPECT_EQ(call("GET", own).json()["priority"], "background");
}

TEST_F(JobPriority, put_when_the_job_has_ended_then_409) {
  const auto job = post("/jobs/digest");
  run_all();
  const auto refused = call("PUT", job + "?priority=background");
  EXPECT_EQ(refused.status, 409U);
  EXPECT_EQ(refused.error(), "finished");
}

// Rule: SEC-1
TEST_F(JobPriority, put_when_above_the_ceiling_or_of_another_client_then_it_is_refused) {
  const auto not_mine = post("/jobs/digest");
  authorization = "Bearer a";
  const auto mine = post("/jobs/digest?priority=background");
  const auto refused = call("PUT", mine + "?priority=user-blocking");
  EXPECT_EQ(refused.status, 403U);
  EXPECT_EQ(refused.error(), "above_ceiling");
  EXPECT_EQ(call("PUT", not_mine + "?priority=background").status, 404U);
}

TEST_F(JobPriority, put_when_the_priority_is_missing_or_wrong_then_400) {
  const auto job = post("/jobs/digest");
  for (const auto* query : {"", "?priority=urgent", "?priority=background&delay=1"}) {
    EXPECT_EQ(call("PUT", job + query).status, 400U) << query;
  }
}

}  // namespace
}  // namespace heistd
