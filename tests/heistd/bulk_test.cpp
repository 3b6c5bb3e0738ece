// Many jobs in one request, without a journal.
#include <string>

#include "api_fixture.hpp"

namespace heistd {
namespace {

Limits few_jobs() {
  Limits limits;
  limits.max_queued = 4;
  return limits;
}

class Bulk : public ApiFixture {
 protected:
  explicit Bulk(Limits its_limits = {}) : ApiFixture(its_limits) {}

  Answer submit(std::string_view body) {
    auto outcome = begin(body);
    while (auto* const storing = std::get_if<Storing>(&outcome)) outcome = go_on(*storing);
    return answer(std::get<Reply>(outcome));
  }
  Api::Outcome begin(std::string_view body) {
    auto step = heistd::begin(api, {"POST", "/jobs", authorization, body.size(), false});
    if (auto* const reply = std::get_if<Reply>(&step)) return std::move(*reply);
    auto& upload = std::get<Upload>(step);
    feed(upload, body);
    return api.finish(std::move(upload));
  }
  Api::Outcome go_on(const Storing& storing) {
    bool told = false;
    heist::async_wait(storing.answered,
                      boost::asio::bind_executor(network, [&told](const auto&) { told = true; }));
    while (!told) {
      if (!step_network()) loop.run_one();
    }
    return storing.then();
  }
  static std::string digest(std::string_view text) {
    return R"({"kind":"digest","text":")" + std::string(text) + "\"}\n";
  }
};

class FullBulk : public Bulk {
 protected:
  FullBulk() : Bulk(few_jobs()) {}
};

TEST_F(Bulk, post_then_each_line_is_a_job_and_their_ids_come_in_order) {
  const auto reply = submit(digest("abc") + "\n" + digest("") +
                            R"({"kind":"search","text":"xa\n","parameters":{"pattern":"a"}})");
  EXPECT_EQ(reply.status, 202U);
  const auto json = reply.json();
  EXPECT_EQ(json["accepted"], 3);
  EXPECT_EQ(json["refused"], 0);
  ASSERT_EQ(json["jobs"].size(), 3U);
  run_all();
  const auto job = [&](std::size_t index) {
    return call("GET", "/jobs/" + json["jobs"][index]["id"].get<std::string>()).json();
  };
  EXPECT_EQ(job(0)["result"]["sha256"],
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(job(1)["bytes"], 0);
  EXPECT_EQ(job(2)["result"]["matched"], 1);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(Bulk, post_when_lines_are_wrong_then_the_others_are_accepted) {
  const auto json = submit("x\n" + digest("a") +
                           R"({"kind":"none"})"
                           "\n"
                           R"({"kind":"search"})"
                           "\n"
                           R"({"kind":"digest","idempotency_key":"k"})")
                        .json();
  EXPECT_EQ(json["accepted"], 1);
  EXPECT_EQ(json["refused"], 4);
  EXPECT_EQ(json["jobs"][0]["error"]["code"], "bad_line");
  EXPECT_TRUE(json["jobs"][1].contains("id"));
  EXPECT_EQ(json["jobs"][2]["error"]["field"], "kind");
  EXPECT_EQ(json["jobs"][3]["error"]["field"], "pattern");
  EXPECT_EQ(json["jobs"][4]["error"]["code"], "no_journal");
}

TEST_F(Bulk, post_when_no_line_is_a_job_then_400) {
  EXPECT_EQ(submit("").error(), "bad_line");
  EXPECT_EQ(submit("\n \r\n").error(), "bad_line");
  const auto reply = submit("x");
  EXPECT_EQ(reply.status, 400U);
  EXPECT_EQ(reply.error(), "no_good_job");
  EXPECT_EQ(reply.json()["jobs"].size(), 1U);
  EXPECT_EQ(call("POST", "/jobs?priority=background", "x").error(), "bad_parameter");
}

TEST_F(Bulk, post_when_there_are_as_many_as_may_be_then_all_are_accepted_and_one_more_is_none) {
  std::string body;
  for (std::size_t i = 0; i < max_bulk_jobs; ++i) body += digest("a");
  EXPECT_EQ(submit(body).json()["accepted"], max_bulk_jobs);
  EXPECT_EQ(anonymous.budget->jobs(), max_bulk_jobs);
  call("PUT", "/signals/x?priority=background");
  const auto reply = submit(body + digest("a"));
  EXPECT_EQ(reply.status, 413U);
  EXPECT_EQ(reply.error(), "too_many_jobs");
  EXPECT_EQ(anonymous.budget->jobs(), max_bulk_jobs);
}

TEST_F(Bulk, post_when_a_line_is_too_long_then_that_job_is_refused_alone) {
  const auto json = submit(digest(std::string(max_bulk_line_bytes, 'a')) + digest("a")).json();
  EXPECT_EQ(json["jobs"][0]["error"]["code"], "job_too_large");
  EXPECT_TRUE(json["jobs"][1].contains("id"));
}

TEST_F(Bulk, post_when_the_client_has_a_rate_then_each_job_takes_its_part_of_it) {
  clients.renew({std::get<ClientSpec>(parse_client_spec("anonymous rate=1/m burst=5"))});
  const auto wrong = std::string("{}\n");
  EXPECT_EQ(submit(digest("a") + digest("b") + wrong + digest("c")).status, 202U);
  EXPECT_EQ(submit(digest("d") + digest("e") + digest("f")).status, 202U) << "two may still come";
  const auto refused = submit(digest("g"));
  EXPECT_EQ(refused.status, 429U);
  const auto wait = std::stoi(refused.header("Retry-After"));
  EXPECT_GT(wait, 60) << "six have come";
  EXPECT_LE(wait, 120);
}

TEST_F(FullBulk, post_when_there_is_no_room_for_all_then_none_is_accepted) {
  EXPECT_EQ(submit(digest("a") + digest("b")).status, 202U);
  const auto reply = submit(digest("c") + digest("d") + digest("e"));
  EXPECT_EQ(reply.status, 503U);
  EXPECT_EQ(reply.error(), "queue_full");
  EXPECT_EQ(anonymous.budget->jobs(), 2U);
  EXPECT_EQ(submit(digest("c") + digest("d")).status, 202U);
  run_all();
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(Bulk, post_when_there_are_too_many_signals_then_none_is_accepted) {
  std::string body;
  for (std::size_t i = 0; i <= max_signals; ++i) {
    body += R"({"kind":"digest","signal":"s)" + std::to_string(i) + "\"}\n";
  }
  EXPECT_EQ(submit(body).error(), "too_many_signals");
  EXPECT_TRUE(anonymous.signals.all().empty());
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(Bulk, post_when_the_client_may_not_have_the_priority_then_that_job_is_refused) {
  authorization = "Bearer b";
  const auto json = submit(R"({"kind":"digest","priority":"user-blocking"})"
                           "\n"
                           R"({"kind":"digest","priority":"background"})")
                        .json();
  EXPECT_EQ(json["jobs"][0]["error"]["code"], "above_ceiling");
  EXPECT_TRUE(json["jobs"][1].contains("id"));
}

TEST_F(Bulk, post_when_the_server_ends_meanwhile_then_503) {
  auto outcome = begin(digest("a"));
  service.start_shutdown();
  while (auto* const storing = std::get_if<Storing>(&outcome)) outcome = go_on(*storing);
  EXPECT_EQ(answer(std::get<Reply>(outcome)).error(), "shutting_down");
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

}  // namespace
}  // namespace heistd
