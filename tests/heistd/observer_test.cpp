// What an operator sees of the agents, and that nobody else does.
#include <gmock/gmock.h>

#include "api_fixture.hpp"

namespace heistd {
namespace {

using testing::HasSubstr;

struct ObserverTest : ApiFixture {
  ObserverTest() { clients.set_operator("anonymous"); }

  /// Ends the trace, and gives what it has.
  Answer ended(const Answer& trace) {
    trace.observation->end_early();
    return made(trace);
  }
};

TEST_F(ObserverTest, dump_when_jobs_wait_then_it_counts_them) {
  for (int i = 0; i < 3; ++i) post("/jobs/digest?priority=background");
  run_one();
  const auto dump = made(call("GET", "/debug/dump"));
  EXPECT_EQ(dump.status, 200U);
  EXPECT_THAT(dump.body, HasSubstr("background: 2 wait"));
}

TEST_F(ObserverTest, dump_when_another_is_being_made_then_409) {
  const auto first = call("GET", "/debug/dump");
  const auto second = call("GET", "/debug/dump");
  EXPECT_EQ(second.status, 409U);
  EXPECT_EQ(second.error(), "dump_running");
  EXPECT_EQ(made(first).status, 200U);
  EXPECT_EQ(made(call("GET", "/debug/dump")).status, 200U);
}

TEST_F(ObserverTest, metrics_when_jobs_wait_and_have_ended_then_they_count_them) {
  post("/jobs/search?pattern=x");
  run_all();
  for (int i = 0; i < 3; ++i) post("/jobs/digest?priority=background");
  run_one();
  const auto metrics = made(call("GET", "/metrics"));
  EXPECT_EQ(metrics.status, 200U);
  for (const char* line :
       {"# TYPE heistd_jobs gauge\n",
        "heistd_jobs{client=\"anonymous\",priority=\"background\",state=\"queued\"} 2\n",
        "heistd_jobs_total{client=\"anonymous\",priority=\"user-visible\",outcome=\"done\"} 1\n",
        "heist_tasks_waiting{priority=\"background\",continuation=\"false\"} 2\n",
        "heist_task_run_seconds_bucket{priority=\"background\",continuation=\"false\",le=\"+Inf\"} "
        "0\n",
        "heist_agent_running{agent=\"1\"} 0\n"}) {
    EXPECT_THAT(metrics.body, HasSubstr(line));
  }
}

TEST_F(ObserverTest, metrics_when_two_others_are_given_them_then_409) {
  const auto first = call("GET", "/metrics");
  const auto second = call("GET", "/metrics");
  EXPECT_EQ(call("GET", "/metrics").error(), "metrics_running");
  EXPECT_EQ(made(first).status, 200U);
  EXPECT_EQ(made(second).status, 200U);
  EXPECT_EQ(made(call("GET", "/metrics")).status, 200U);
}

TEST_F(ObserverTest, trace_when_jobs_run_then_it_names_their_kinds) {
  const auto trace = call("GET", "/debug/trace?duration=600000&format=json");
  for (const char* path :
       {"/jobs/digest?priority=background", "/jobs/compress", "/jobs/search?pattern=x"})
    post(path);
  run_all();
  const auto all = ended(trace);
  EXPECT_EQ(all.status, 200U);
  std::vector<std::string> slices;
  const Json json = all.json();
  for (const Json& event : json["traceEvents"]) {
    EXPECT_EQ(event.value("name", "").find("->"), std::string::npos) << "nobody re-prioritised";
    if (event["ph"] == "B") slices.push_back(event["name"]);
  }
  // A job that yields has continuations besides, and a slow machine makes jobs yield.
  EXPECT_THAT(slices, testing::IsSupersetOf({"check parameters", "digest", "compress", "search"}));
}

TEST_F(ObserverTest, trace_when_its_time_is_over_then_it_ends_by_itself) {
  post("/jobs/digest");
  EXPECT_EQ(made(call("GET", "/debug/trace?duration=1")).status, 200U);
}

TEST_F(ObserverTest, trace_when_another_runs_then_409_until_that_has_ended) {
  const auto first = call("GET", "/debug/trace?duration=600000");
  const auto second = call("GET", "/debug/trace?duration=1");
  EXPECT_EQ(second.status, 409U);
  EXPECT_EQ(second.error(), "trace_running");
  EXPECT_EQ(ended(first).status, 200U);
  EXPECT_EQ(made(call("GET", "/debug/trace?duration=1")).status, 200U);
}

TEST_F(ObserverTest, trace_when_the_server_ends_then_its_reply_is_what_it_has) {
  const auto trace = call("GET", "/debug/trace?duration=600000");
  observer.end_trace();
  EXPECT_EQ(made(trace).status, 200U);
}

TEST_F(ObserverTest, trace_when_a_parameter_is_wrong_then_400_names_it) {
  for (const auto& [query, field] :
       {std::pair("", "duration"), std::pair("?duration=0", "duration"),
        std::pair("?duration=600001", "duration"), std::pair("?duration=1&format=xml", "format"),
        std::pair("?duration=1&events=5", "events")}) {
    const auto refused = call("GET", std::string("/debug/trace") + query);
    EXPECT_EQ(refused.status, 400U) << query;
    EXPECT_EQ(refused.error(), "bad_parameter") << query;
    EXPECT_EQ(refused.field(), field) << query;
  }
}

// Rule: SEC-1. What agents do concerns all clients.
TEST_F(ApiFixture, observation_when_by_another_than_the_operator_then_403) {
  const auto statuses = [this] {
    return std::tuple(call("GET", "/debug/dump").status,
                      call("GET", "/debug/trace?duration=1").status,
                      call("GET", "/metrics").status);
  };
  EXPECT_EQ(statuses(), std::tuple(403U, 403U, 403U));
  ASSERT_TRUE(clients.set_operator("alice"));
  EXPECT_EQ(statuses(), std::tuple(403U, 403U, 403U));
  authorization = "Bearer b";
  EXPECT_EQ(call("GET", "/debug/dump").error(), "not_operator");
  authorization = "Bearer a";
  EXPECT_EQ(made(call("GET", "/debug/dump")).status, 200U);
}

}  // namespace
}  // namespace heistd
