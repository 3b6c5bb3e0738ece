#include <zstd.h>

#include "api_fixture.hpp"

namespace heistd {
namespace {

constexpr std::string_view abc_digest =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

using ApiTest = ApiFixture;

TEST_F(ApiTest, post_when_good_then_202_with_location_and_state) {
  const auto accepted = call("POST", "/jobs/digest?priority=background", "abc");
  EXPECT_EQ(accepted.status, 202U);
  EXPECT_EQ(accepted.header("Location"), "/jobs/" + accepted.json()["id"].get<std::string>());
  EXPECT_EQ(accepted.json()["state"], "queued");
  EXPECT_EQ(accepted.json()["priority"], "background");
  EXPECT_EQ(accepted.json()["queue_delay_us"], nullptr);
}

TEST_F(ApiTest, get_when_digest_done_then_result_and_times) {
  const auto job = post("/jobs/digest", "abc");
  run_all();
  const auto json = call("GET", job).json();
  EXPECT_EQ(json["state"], "done");
  EXPECT_EQ(json["result"]["sha256"], abc_digest);
  EXPECT_EQ(json["bytes"], 3);
  EXPECT_EQ(json["chunks"], 1);
  EXPECT_GE(json["queue_delay_us"], 0.0);
  EXPECT_GE(json["run_time_us"], json["longest_chunk_us"]);
  EXPECT_EQ(call("GET", job + "/result").json()["sha256"], abc_digest);
}

TEST_F(ApiTest, result_when_compressed_then_the_frame_itself) {
  const std::string bytes(1000, 'x');
  const auto job = post("/jobs/compress", bytes);
  run_all();
  const auto frame = call("GET", job + "/result").body;
  EXPECT_EQ(call("GET", job).json()["result"]["bytes"], frame.size());
  std::string expanded(bytes.size(), '\0');
  EXPECT_EQ(ZSTD_decompress(expanded.data(), expanded.size(), frame.data(), frame.size()),
            bytes.size());
  EXPECT_EQ(expanded, bytes);
}

TEST_F(ApiTest, search_when_line_is_no_text_then_still_json) {
  const auto job = post("/jobs/search?pattern=x", "\xffx\n");
  run_all();
  EXPECT_EQ(call("GET", job).json()["result"]["lines"][0]["text"], "\xef\xbf\xbdx");
}

TEST_F(ApiTest, wait_when_job_ends_then_its_reply_is_the_result) {
  const auto waits = call("POST", "/jobs/digest?wait=1", "abc");
  ASSERT_TRUE(waits.waiting);
  bool told = false;
  waits.waiting->job->on_finished.emplace_back([&] { told = true; });
  run_all();
  EXPECT_TRUE(told);
  const auto reply = answer(api.waited(*waits.waiting->job));
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.json()["result"]["sha256"], abc_digest);
}

TEST_F(ApiTest, wait_when_compressed_then_the_frame_with_times_in_headers) {
  const auto waits = call("POST", "/jobs/compress?wait=1", "abc");
  run_all();
  const auto reply = answer(api.waited(*waits.waiting->job));
  EXPECT_TRUE(reply.body.starts_with("\x28\xb5\x2f\xfd"));
  EXPECT_NE(reply.header("Heistd-Queue-Delay-Us"), "");
  EXPECT_NE(reply.header("Location"), "");
}

TEST_F(ApiTest, wait_when_job_fails_then_422_says_why) {
  const auto waits =
      call("POST", "/jobs/search?pattern=x&wait=1", std::string(max_line_bytes + 1, 'x'));
  run_all();
  const auto reply = answer(api.waited(*waits.waiting->job));
  EXPECT_EQ(reply.status, 422U);
  EXPECT_EQ(reply.error(), "line_too_long");
  EXPECT_EQ(reply.json()["job"]["state"], "failed");
}

TEST_F(ApiTest, wait_when_job_is_deleted_then_409) {
  const auto waits = call("POST", "/jobs/digest?wait=1", "abc");
  call("DELETE", "/jobs/" + waits.waiting->job->id);
  const auto reply = answer(api.waited(*waits.waiting->job));
  EXPECT_EQ(reply.status, 409U);
  EXPECT_EQ(reply.error(), "aborted");
}

TEST_F(ApiTest, abandon_when_waiting_client_left_then_job_is_aborted) {
  const auto waits = call("POST", "/jobs/digest?wait=1", "abc");
  api.drop(*waits.waiting);
  run_all();
  EXPECT_EQ(state("/jobs/" + waits.waiting->job->id), "aborted");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(ApiTest, job_when_several_blocks_then_one_task_each_and_others_come_between) {
  const auto slow = post("/jobs/digest?priority=background", std::string(3 * block_bytes, 'x'));
  run_one();
  EXPECT_EQ(state(slow), "running");
  const auto urgent = post("/jobs/digest?priority=user-blocking");
  run_one();
  EXPECT_EQ(state(urgent), "done");
  EXPECT_EQ(state(slow), "running");
  run_all();
  EXPECT_EQ(call("GET", slow).json()["chunks"], 3);
}

TEST_F(ApiTest, wait_when_the_time_is_over_then_the_reply_has_the_present_state) {
  const auto waits = call("POST", "/jobs/digest?wait=30s", "bytes");
  EXPECT_EQ(waits.waiting->patience.most, std::chrono::seconds(30));
  const auto late = answer(api.waited(*waits.waiting));
  EXPECT_EQ(late.status, 202U);
  EXPECT_EQ(late.json()["state"], "queued");
  EXPECT_EQ(late.header("Location"), "/jobs/" + waits.waiting->job->id);
  api.drop(*waits.waiting);
  run_all();
  const auto in_time = answer(api.waited(*waits.waiting));
  EXPECT_EQ(in_time.status, 200U);
  EXPECT_EQ(in_time.json()["state"], "done");
}

TEST_F(ApiTest, wait_when_a_known_job_is_asked_for_then_its_description_comes_with_its_end) {
  const auto job = post("/jobs/search?pattern=b", std::string(70'000, 'b'));
  const auto waits = call("GET", job + "?wait=1");
  const auto also_waits = call("GET", job + "?wait=5s");
  int told = 0;
  waits.waiting->job->on_finished.emplace_back([&] { ++told; });
  also_waits.waiting->job->on_finished.emplace_back([&] { ++told; });
  EXPECT_EQ(answer(api.waited(*waits.waiting)).json()["state"], "queued");
  api.drop(*waits.waiting);
  run_all();
  EXPECT_EQ(told, 2);
  const auto reply = answer(api.waited(*waits.waiting));
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.json()["state"], "failed");
  EXPECT_EQ(call("GET", job + "?wait=5s").status, 200U) << "it has ended";
  EXPECT_EQ(call("GET", job + "?wait=x").field(), "wait");
}

TEST_F(ApiTest, delay_when_not_over_then_delayed) {
  const auto job = post("/jobs/digest?delay=1000");
  run_all();
  EXPECT_EQ(state(job), "delayed");
  loop.advance(std::chrono::milliseconds(1000));
  run_all();
  EXPECT_EQ(state(job), "done");
}

TEST_F(ApiTest, delete_when_unfinished_then_aborted_and_never_runs) {
  const auto job = post("/jobs/digest");
  EXPECT_EQ(call("DELETE", job).json()["state"], "aborted");
  run_all();
  EXPECT_EQ(state(job), "aborted");
  EXPECT_EQ(call("GET", job).json()["queue_delay_us"], nullptr);
}

TEST_F(ApiTest, delete_when_running_then_the_next_chunk_does_not_come) {
  const auto job = post("/jobs/digest", std::string(3 * block_bytes, 'x'));
  run_one();
  EXPECT_EQ(call("DELETE", job).status, 200U);
  run_all();
  EXPECT_EQ(state(job), "aborted");
  EXPECT_EQ(loop.stats().tasks_run, 1U);  // the chunk
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(ApiTest, delete_when_the_job_has_been_done_unheard_then_it_counts_as_aborted_only) {
  const auto job = post("/jobs/digest");
  loop.run_until_idle();
  EXPECT_EQ(call("DELETE", job).json()["state"], "aborted");
  run_all();
  const auto& stats = anonymous.stats_of(heist::TaskPriority::user_visible);
  EXPECT_EQ(stats.chunks, 1U);
  EXPECT_EQ(stats.aborted, 1U);
  EXPECT_EQ(stats.done, 0U);
}

TEST_F(ApiTest, delete_when_finished_then_forgotten) {
  const auto job = post("/jobs/digest");
  run_all();
  EXPECT_EQ(call("DELETE", job).json()["state"], "done");
  EXPECT_EQ(call("GET", job).status, 404U);
  EXPECT_EQ(call("DELETE", job).status, 404U);
}

TEST_F(ApiTest, result_when_there_is_none_then_409) {
  const auto job = post("/jobs/digest");
  EXPECT_EQ(call("GET", job + "/result").error(), "not_finished");
  call("DELETE", job);
  EXPECT_EQ(call("GET", job + "/result").error(), "no_result");
}

TEST_F(ApiTest, request_when_wrong_then_the_field_is_named) {
  struct Case {
    std::string_view query, field;
  };
  for (const auto& [query, field] :
       {Case{"priority=urgent", "priority"}, Case{"delay=-1", "delay"},
        Case{"delay=86400001", "delay"}, Case{"signal=a%20b", "signal"}, Case{"wait=yes", "wait"},
        Case{"wait=1&wait=1", "wait"}, Case{"other=1", "other"}, Case{"pattern=x", "pattern"}}) {
    const auto refused = call("POST", "/jobs/digest?" + std::string(query), "abc");
    EXPECT_EQ(refused.status, 400U) << query;
    EXPECT_EQ(refused.field(), field) << query;
  }
  EXPECT_EQ(call("POST", "/jobs/search", "abc").field(), "pattern");
  EXPECT_EQ(call("POST", "/jobs/search?pattern=(", "abc").error(), "bad_pattern");
  EXPECT_EQ(call("PUT", "/signals/x").field(), "priority");
  EXPECT_EQ(call("GET", "/stats?x=1").field(), "x");
  EXPECT_EQ(call("GET", "/healthz?x=1").field(), "x");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(ApiTest, request_when_body_unexpected_then_400) {
  EXPECT_EQ(call("GET", "/stats", "body").error(), "unexpected_body");
  EXPECT_EQ(begin(api, {"DELETE", "/signals/x", {}, {}, true}).index(), 0U);
}

TEST_F(ApiTest, stats_when_jobs_are_in_all_states_then_counted_by_level) {
  post("/jobs/digest?priority=user-blocking");
  post("/jobs/search?priority=user-blocking&pattern=x", std::string(max_line_bytes + 1, 'x'));
  run_all();
  call("DELETE", post("/jobs/digest?priority=background"));
  run_all();
  post("/jobs/digest?priority=background");
  post("/jobs/digest?priority=background&delay=60000");
  const auto levels = call("GET", "/stats").json()["levels"];
  EXPECT_EQ(levels[0]["priority"], "user-blocking");
  EXPECT_EQ(levels[0]["done"], 1);
  EXPECT_EQ(levels[0]["failed"], 1);
  EXPECT_EQ(levels[0]["queue_delay_us"]["count"], 2);
  EXPECT_EQ(levels[0]["run_time_us"]["count"], 1);
  EXPECT_EQ(levels[2]["aborted"], 1);
  EXPECT_EQ(levels[2]["depth"], 1);
  EXPECT_EQ(levels[2]["delayed"], 1);
}

TEST_F(ApiTest, post_when_shutting_down_then_503_as_for_readyz_and_healthz_is_well) {
  const auto job = post("/jobs/digest");
  for (const auto* path : {"/healthz", "/readyz"}) {
    EXPECT_EQ(call("GET", path).json()["status"], "ok") << path;
  }
  service.start_shutdown();
  EXPECT_EQ(call("POST", "/jobs/digest", "abc").error(), "shutting_down");
  EXPECT_EQ(call("GET", "/readyz").error(), "shutting_down");
  EXPECT_EQ(call("GET", "/healthz").json()["status"], "draining");
  EXPECT_EQ(state(job), "queued");
}

TEST_F(ApiTest, post_when_loop_closed_then_503) {
  loop.close(heist::CloseMode::abort());
  EXPECT_EQ(call("POST", "/jobs/digest", "abc").error(), "shutting_down");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(ApiTest, job_when_loop_closes_midway_then_aborted) {
  const auto job = post("/jobs/digest", std::string(3 * block_bytes, 'x'));
  run_one();
  loop.close(heist::CloseMode::abort());
  EXPECT_EQ(service.abort_some(clients, "the server is shutting down"), 1U);
  EXPECT_EQ(state(job), "aborted");
}

}  // namespace
}  // namespace heistd
