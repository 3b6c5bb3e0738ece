// What one client may have, and that it sees nothing of another.
#include <heistd/builtin/line_pattern.hpp>

#include "api_fixture.hpp"

namespace heistd {
namespace {

Limits small() {
  Limits limits;
  limits.max_body = 1000;
  limits.max_queued = 2;
  limits.max_queued_bytes = 2 * mib;
  limits.max_results = 2;
  limits.max_result_bytes = 3000;
  return limits;
}

struct ApiLimits : ApiFixture {
  ApiLimits() : ApiFixture(small()) {}
};

TEST_F(ApiLimits, post_when_queue_full_then_503_until_a_job_ends) {
  post("/jobs/digest");
  post("/jobs/digest");
  const auto refused = call("POST", "/jobs/digest", "x");
  EXPECT_EQ(refused.status, 503U);
  EXPECT_EQ(refused.error(), "queue_full");
  EXPECT_EQ(refused.header("Retry-After"), "1");
  run_all();
  EXPECT_EQ(call("POST", "/jobs/digest", "x").status, 202U);
}

TEST_F(ApiLimits, post_when_body_too_large_then_413_before_it_is_read) {
  const auto refused = call("POST", "/jobs/digest", std::string(1001, 'x'));
  EXPECT_EQ(refused.status, 413U);
  EXPECT_EQ(refused.error(), "body_too_large");
}

struct ApiMemory : ApiFixture {
  static Limits small_memory() {
    Limits limits;
    limits.max_queued_bytes = 2 * mib;
    return limits;
  }
  ApiMemory() : ApiFixture(small_memory()) {}
};

TEST_F(ApiMemory, post_when_searches_take_the_memory_then_503_until_they_end) {
  std::size_t accepted = 0;
  while (call("POST", "/jobs/search?pattern=a", "x").status == 202) ++accepted;
  EXPECT_EQ(accepted, 2 * mib / (LinePattern::max_memory + job_bytes + 66));
  EXPECT_EQ(call("POST", "/jobs/search?pattern=a", "x").error(), "queue_full");
  EXPECT_EQ(call("POST", "/jobs/search?pattern=b", "x").error(), "queue_full");
  run_all();
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(ApiLimits, results_when_too_many_then_the_oldest_is_dropped) {
  const auto first = post("/jobs/digest");
  run_all();
  const auto second = post("/jobs/digest");
  run_all();
  const auto third = post("/jobs/digest");
  run_all();
  EXPECT_EQ(call("GET", first).status, 404U);
  EXPECT_EQ(state(second), "done");
  EXPECT_EQ(state(third), "done");
}

TEST_F(ApiLimits, results_when_too_large_then_the_newest_stays) {
  const auto first = post("/jobs/digest");
  run_all();
  const auto large = post("/jobs/search?pattern=x", std::string(900, 'x'));
  run_all();
  EXPECT_EQ(call("GET", first).status, 404U);
  EXPECT_EQ(state(large), "done");
}

struct ApiQuotas : ApiFixture {
  static Limits few() {
    Limits limits;
    limits.max_waiting = 2;
    limits.max_unsent_bytes = mib;
    return limits;
  }
  ApiQuotas() : ApiFixture(few()) {}

  std::optional<Upload> announce(std::uint64_t bytes) {
    auto step = begin(api, {"POST", "/jobs/digest", {}, bytes, false});
    if (auto* upload = std::get_if<Upload>(&step)) return std::move(*upload);
    const auto refused = answer(std::get<Reply>(step));
    EXPECT_EQ(refused.status, 503U);
    EXPECT_EQ(refused.error(), "too_much_unsent");
    return std::nullopt;
  }
};

TEST_F(ApiQuotas, wait_when_too_many_wait_then_503_until_one_is_answered) {
  auto first = call("POST", "/jobs/digest?wait=1", "x");
  const auto second = call("POST", "/jobs/digest?wait=1", "x");
  const auto refused = call("POST", "/jobs/digest?wait=1", "x");
  EXPECT_EQ(refused.status, 503U);
  EXPECT_EQ(refused.error(), "too_many_waits");
  EXPECT_EQ(call("POST", "/jobs/digest", "x").status, 202U);
  authorization = "Bearer a";
  EXPECT_TRUE(call("POST", "/jobs/digest?wait=1", "x").waiting);
  authorization.reset();
  first.waiting.reset();
  EXPECT_TRUE(call("POST", "/jobs/digest?wait=1", "x").waiting);
}

TEST_F(ApiQuotas, upload_when_others_have_announced_and_not_sent_then_503_unless_it_is_small) {
  auto upload = announce(mib - block_bytes);
  ASSERT_TRUE(upload);
  EXPECT_FALSE(announce(block_bytes + 1));
  EXPECT_TRUE(announce(block_bytes));
  EXPECT_EQ(upload->room().size(), block_bytes);
  EXPECT_EQ(upload->commit(block_bytes), std::nullopt);
  EXPECT_TRUE(announce(block_bytes + 1)) << "part of it has come";
  upload.reset();
  EXPECT_TRUE(announce(mib)) << "it was given up";
}

struct Sec1Api : ApiFixture {
  void as(std::string_view header) { authorization = header; }
};

TEST_F(Sec1Api, job_when_another_clients_then_404_as_if_there_were_none) {
  as("Bearer a");
  const auto job = post("/jobs/digest");
  as("Bearer b");
  const auto refused = call("GET", job);
  EXPECT_EQ(refused.status, 404U);
  EXPECT_EQ(refused.body, call("GET", "/jobs/" + std::string(32, '0')).body);
  EXPECT_EQ(call("GET", job + "/result").status, 404U);
  EXPECT_EQ(call("DELETE", job).status, 404U);
  as("Bearer a");
  EXPECT_EQ(state(job), "queued");
}

TEST_F(Sec1Api, signal_when_another_client_uses_the_name_then_it_is_another_one) {
  as("Bearer a");
  const auto job = post("/jobs/digest?signal=g");
  as("Bearer b");
  EXPECT_EQ(call("DELETE", "/signals/g").status, 404U);
  EXPECT_EQ(call("PUT", "/signals/g?priority=background").status, 201U);
  EXPECT_EQ(call("DELETE", "/signals/g").json()["aborted_jobs"], 0);
  as("Bearer a");
  EXPECT_EQ(call("GET", job).json()["priority"], "user-visible");
  EXPECT_EQ(state(job), "queued");
}

TEST_F(Sec1Api, priority_when_above_the_ceiling_then_403) {
  as("Bearer a");
  for (const auto* target : {"/jobs/digest?priority=user-blocking"}) {
    const auto refused = call("POST", target, "x");
    EXPECT_EQ(refused.status, 403U);
    EXPECT_EQ(refused.error(), "above_ceiling");
    EXPECT_EQ(refused.field(), "priority");
  }
  EXPECT_EQ(call("PUT", "/signals/g?priority=user-blocking").status, 403U);
  EXPECT_EQ(call("DELETE", "/signals/g").status, 404U);
}

TEST_F(Sec1Api, priority_when_not_named_then_never_above_the_ceiling) {
  as("Bearer b");
  EXPECT_EQ(call("GET", post("/jobs/digest")).json()["priority"], "background");
  EXPECT_EQ(call("GET", post("/jobs/digest?signal=g")).json()["priority"], "background");
}

TEST_F(Sec1Api, stats_when_another_client_is_busy_then_nothing_shows) {
  as("Bearer a");
  post("/jobs/digest");
  run_all();
  post("/jobs/digest");
  as("Bearer b");
  const auto stats = call("GET", "/stats").json();
  EXPECT_EQ(stats["client"], "bob");
  EXPECT_EQ(stats["jobs_held"], 0);
  for (const auto& level : stats["levels"]) {
    EXPECT_EQ(level["depth"], 0);
    EXPECT_EQ(level["done"], 0);
  }
}

TEST_F(Sec1Api, request_when_token_wrong_then_401_but_healthz_needs_none) {
  as("Bearer wrong");
  const auto refused = call("GET", "/stats");
  EXPECT_EQ(refused.status, 401U);
  EXPECT_EQ(refused.field(), "Authorization");
  EXPECT_EQ(refused.header("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(call("POST", "/jobs/digest", "x").status, 401U);
  EXPECT_EQ(call("GET", "/healthz").status, 200U);
}

struct Sec1Queue : ApiFixture {
  Sec1Queue() : ApiFixture(small()) {}
};

TEST_F(Sec1Queue, post_when_another_clients_queue_is_full_then_accepted) {
  authorization = "Bearer a";
  post("/jobs/digest");
  post("/jobs/digest");
  EXPECT_EQ(call("POST", "/jobs/digest", "x").status, 503U);
  authorization = "Bearer b";
  EXPECT_EQ(call("POST", "/jobs/digest", "x").status, 202U);
}

}  // namespace
}  // namespace heistd
