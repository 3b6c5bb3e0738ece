// How long jobs may wait for their start, and how long they may run, without a journal.
#include <heist/error.hpp>
#include <heist/jobs.hpp>
#include <jobs/handler_kind.hpp>
#include <optional>
#include <string>
#include <utility>

#include "api_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;

/// Jobs of the kind `own` wait until the test lets them go on, whatever becomes of their signal.
class JobTimes : public ApiFixture {
 protected:
  JobTimes() {
    kinds.add(make_handler_kind(
        "own", [this](jobs::Job job) { return handle(std::move(job)); }, {},
        std::source_location::current()));
  }
  ~JobTimes() override { go_on.resolver.resolve(); }  // it is not to be dropped
  JobTimes(const JobTimes&) = delete;
  JobTimes& operator=(const JobTimes&) = delete;

  heist::Promise<jobs::Result> handle(jobs::Job job) {
    signal = job.signal();
    co_await go_on.promise;
    co_return "done";
  }
  /// Lets the network's clock go on until the job has that state.
  void run_network_until(const std::string& job, std::string_view wanted) {
    while (state(job) != wanted) run_network();
  }
  std::string error_code(const std::string& job) {
    return call("GET", job).json()["error"]["code"];
  }

  std::optional<heist::TaskSignal> signal;
  heist::PromiseWithResolver<void> go_on = heist::Promise<void>::with_resolver();
};

TEST_F(JobTimes, ttl_when_the_job_has_not_started_by_then_then_it_is_aborted_and_says_why) {
  const auto job = post("/jobs/digest?ttl=1");
  run_network_until(job, "aborted");
  EXPECT_EQ(error_code(job), "expired");
  run_all();
  EXPECT_EQ(state(job), "aborted");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_visible).aborted, 1U);
}

TEST_F(JobTimes, ttl_when_somebody_waits_for_the_job_then_the_reply_says_why) {
  const auto waits = call("POST", "/jobs/digest?ttl=1&wait=1", "bytes");
  while (!waits.waiting->job->finished()) run_network();
  const auto reply = answer(api.waited(*waits.waiting->job));
  EXPECT_EQ(reply.status, 409U);
  EXPECT_EQ(reply.error(), "expired");
}

TEST_F(JobTimes, ttl_then_it_is_told_what_is_left_of_it_until_the_start) {
  const auto job = post("/jobs/own?ttl=200");
  EXPECT_GT(call("GET", job).json()["expires_in_ms"], 0);
  run_all();
  ASSERT_EQ(state(job), "running");
  EXPECT_FALSE(call("GET", job).json().contains("expires_in_ms"));
  const auto later = post("/jobs/digest?delay=86400000&ttl=86400001");
  EXPECT_EQ(state(later), "delayed");
}

TEST_F(JobTimes, ttl_when_the_job_has_started_by_then_then_it_goes_on) {
  const auto job = post("/jobs/own?ttl=1");
  loop.run_until_idle();
  ASSERT_EQ(state(job), "running");
  run_network_until(post("/jobs/digest?ttl=1"), "aborted");  // whose time comes later
  EXPECT_EQ(state(job), "running");
  go_on.resolver.resolve();
  run_all();
  EXPECT_EQ(state(job), "done");
}

TEST_F(JobTimes, ttl_when_it_makes_no_sense_then_400) {
  for (const std::string query : {"ttl=0", "ttl=x", "ttl=604800001", "ttl=5&delay=5"}) {
    const auto refused = call("POST", "/jobs/digest?" + query, "bytes");
    EXPECT_EQ(refused.status, 400U) << query;
    EXPECT_EQ(refused.field(), "ttl") << query;
  }
  EXPECT_EQ(call("POST", "/jobs/digest?timeout=0").field(), "timeout");
}

TEST_F(JobTimes, timeout_when_the_job_runs_for_longer_then_it_has_failed_and_its_signal_says_why) {
  const auto job = post("/jobs/own?timeout=1");
  EXPECT_EQ(call("GET", job).json()["timeout_ms"], 1);
  run_all();
  run_network_until(job, "failed");
  EXPECT_EQ(error_code(job), "job_timeout");
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_visible).failed, 1U);
  ASSERT_TRUE(signal->aborted());
  EXPECT_THROW(signal->throw_if_aborted(), heist::TimeoutError);
  go_on.resolver.resolve();
  run_all();
  EXPECT_EQ(state(job), "failed");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(JobTimes, timeout_when_the_job_was_moved_while_it_ran_then_it_counts_where_it_started) {
  const auto job = post("/jobs/own?timeout=1&priority=background");
  loop.run_until_idle();  // the network, which has not heard of the start, sets no timer yet
  ASSERT_EQ(state(job), "running");
  EXPECT_EQ(call("PUT", job + "?priority=user-blocking").status, 200U);
  run_network_until(job, "failed");
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::background).failed, 1U);
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_blocking).failed, 0U);
}

TEST_F(JobTimes, timeout_when_the_job_only_waits_then_it_does_not_count) {
  const auto job = post("/jobs/digest?timeout=1");
  const auto expires = post("/jobs/digest?ttl=2");
  run_network_until(expires, "aborted");
  EXPECT_EQ(state(job), "queued");
  run_all();
  EXPECT_EQ(state(job), "done");
}

}  // namespace
}  // namespace heistd
