// Jobs that start after others, without a journal.
#include <heist/jobs.hpp>
#include <jobs/handler_kind.hpp>
#include <string>
#include <utility>

#include "api_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;

/// A job of the kind `own` notes its name, and fails if that is "bad".
class FollowersTest : public ApiFixture {
 protected:
  FollowersTest() {
    kinds.add(make_handler_kind(
        "own", [this](const jobs::Job& job) { return handle(job); },
        {.parameters = {{.name = "name"}}}, std::source_location::current()));
  }

  heist::Promise<jobs::Result> handle(const jobs::Job& job) {
    ran += std::string(job.text("name").value_or("")) + ' ';
    if (job.text("name") == "bad") throw jobs::Failure("bad", "as was asked for");
    return heist::Promise<jobs::Result>::resolved(jobs::Result(std::string("done")));
  }
  std::string own(const std::string& name, const std::string& query = {}) {
    return post("/jobs/own?name=" + name + query);
  }
  static std::string after(const std::string& job) { return "&after=" + job.substr(6); }
  /// Each job that waited goes to the agents and back.
  void run_to_the_end() {
    for (int turn = 0; turn < 8; ++turn) run_all();
  }
  Json error_of(const std::string& job) { return call("GET", job).json()["error"]; }

  std::string ran;
};

// Rule: JRN-8
TEST_F(FollowersTest, after_when_the_other_job_is_done_then_its_followers_start_in_their_order) {
  const auto first = own("a", "&priority=background");
  const auto second = own("b", after(first) + "&priority=user-blocking");
  own("c", after(second));
  own("d", after(second));
  own("e");
  EXPECT_EQ(state(second), "delayed");
  EXPECT_EQ(call("GET", second).json()["after"], first.substr(6));
  EXPECT_EQ(call("GET", "/jobs?state=delayed").json()["jobs"].size(), 3U);
  EXPECT_EQ(anonymous.depths().at(1).delayed, 2U);
  EXPECT_EQ(clients.unfinished_jobs(), 5U);
  while (anonymous.budget->jobs() > 0) run_all();
  EXPECT_EQ(ran, "e a b c d ");
  EXPECT_EQ(state(second), "done");
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

// Rule: JRN-8
TEST_F(FollowersTest, after_when_the_other_job_fails_then_its_followers_and_theirs_are_aborted) {
  const auto first = own("bad");
  const auto second = own("b", after(first));
  const auto third = own("c", after(second));
  run_all();
  EXPECT_EQ(ran, "bad ");
  for (const auto& job : {second, third}) {
    EXPECT_EQ(state(job), "aborted");
    EXPECT_EQ(error_of(job)["code"], "predecessor_failed");
  }
  const std::string message = error_of(third)["message"];
  EXPECT_NE(message.find(second.substr(6)), std::string::npos);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

// Rule: JRN-8
TEST_F(FollowersTest, after_when_the_other_job_is_aborted_then_those_that_wait_hear_why) {
  const auto first = own("a", "&delay=86400000");
  const auto waits = call("POST", "/jobs/own?wait=1" + after(first), "bytes");
  call("DELETE", first);
  ASSERT_TRUE(waits.waiting->job->finished());
  const auto reply = answer(api.waited(*waits.waiting->job));
  EXPECT_EQ(reply.status, 409U);
  EXPECT_EQ(reply.error(), "predecessor_failed");
}

// Rule: JRN-8
TEST_F(FollowersTest, after_when_the_signal_of_the_other_job_is_deleted_then_aborted) {
  const auto first = own("a", "&signal=night");
  const auto second = own("b", after(first) + "&signal=night");
  const auto third = own("c", after(second));
  call("DELETE", "/signals/night");
  EXPECT_EQ(state(second), "aborted");
  EXPECT_EQ(error_of(third)["code"], "predecessor_failed");
  run_all();
  EXPECT_EQ(ran, "");
}

// Rule: JRN-8
TEST_F(FollowersTest, after_when_the_other_job_has_ended_then_its_end_decides_before_the_upload) {
  const auto good = own("a");
  const auto bad = own("bad");
  run_all();
  const auto started = own("b", after(good));
  EXPECT_EQ(state(started), "queued");
  EXPECT_EQ(call("GET", started).json()["after"], good.substr(6));
  const auto refusal_of = [this](const std::string& query) {
    return answer(std::get<Reply>(begin(api, {"POST", "/jobs/own?" + query, {}, 5})));
  };
  const auto failed = refusal_of(after(bad));
  EXPECT_EQ(failed.status, 409U);
  EXPECT_EQ(failed.error(), "predecessor_failed");
  EXPECT_EQ(failed.field(), "after");
  const auto unknown = refusal_of("after=" + std::string(32, 'a'));
  EXPECT_EQ(unknown.status, 404U);
  EXPECT_EQ(unknown.error(), "no_predecessor");
  EXPECT_EQ(refusal_of("after=x").error(), "bad_parameter");
  EXPECT_EQ(refusal_of("after=x").field(), "after");
}

// Rule: SEC-1
TEST_F(FollowersTest, after_when_the_other_job_is_another_clients_then_it_is_unknown) {
  const auto job = own("a");
  authorization = "Bearer a";
  const auto refused = call("POST", "/jobs/own?" + after(job), "bytes");
  EXPECT_EQ(refused.status, 404U);
  EXPECT_EQ(refused.error(), "no_predecessor");
}

TEST_F(FollowersTest, after_when_there_is_a_delay_then_both_are_waited_for) {
  const auto first = own("a");
  const auto second = own("b", after(first) + "&delay=86400000");
  run_network();
  loop.run_one();
  run_network();
  EXPECT_EQ(state(first), "done");
  EXPECT_EQ(state(second), "delayed");
  EXPECT_EQ(anonymous.depths().at(1).delayed, 1U);
  call("DELETE", second);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-6
TEST_F(FollowersTest,
       after_when_the_ttl_is_over_then_the_follower_expires_and_the_other_job_does_not) {
  const auto first = own("a");
  const auto second = own("b", after(first) + "&ttl=1");
  const auto third = own("c", after(second));
  while (state(second) != "aborted") run_network();
  EXPECT_EQ(error_of(second)["code"], "expired");
  EXPECT_EQ(error_of(third)["code"], "predecessor_failed");
  run_all();
  EXPECT_EQ(ran, "a ");
}

// Rule: JRN-7
TEST_F(FollowersTest, after_when_its_signal_is_paused_then_the_follower_waits_for_that_too) {
  const auto first = own("a");
  const auto second = own("b", after(first) + "&signal=night");
  call("POST", "/signals/night/pause");
  run_to_the_end();
  EXPECT_EQ(state(second), "queued");
  call("POST", "/signals/night/resume");
  run_to_the_end();
  EXPECT_EQ(state(second), "done");
}

TEST_F(FollowersTest, priority_when_a_follower_waits_then_it_starts_with_the_new_one) {
  const auto first = own("a");
  own("b", after(first));
  const auto third = own("c", after(first));
  EXPECT_EQ(call("PUT", third + "?priority=user-blocking").status, 200U);
  run_to_the_end();
  EXPECT_EQ(ran, "a c b ");
}

TEST_F(FollowersTest, after_when_there_are_more_than_a_step_settles_then_all_are_settled) {
  const auto first = own("a");
  for (int i = 0; i < 200; ++i) own("f", after(first));
  call("DELETE", first);
  EXPECT_GT(anonymous.budget->jobs(), 100U);
  run_all();
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_visible).aborted, 201U);
}

TEST_F(FollowersTest, end_of_the_server_then_followers_are_aborted_as_all_others_and_counted) {
  const auto first = own("a", "&delay=86400000");
  const auto second = own("b", after(first));
  for (int i = 0; i < 99; ++i) own("f", after(first));
  service.start_shutdown();
  std::size_t aborted = 0;
  while (const auto some = service.abort_some(clients, "the server is shutting down")) {
    aborted += some;
  }
  EXPECT_EQ(aborted, 101U);
  EXPECT_EQ(error_of(second)["code"], "aborted");
  run_all();
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(FollowersTest, after_when_a_follower_is_deleted_then_the_others_go_on) {
  const auto first = own("a");
  const auto second = own("b", after(first));
  own("c", after(first));
  call("DELETE", second);
  run_to_the_end();
  EXPECT_EQ(ran, "a c ");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

}  // namespace
}  // namespace heistd
