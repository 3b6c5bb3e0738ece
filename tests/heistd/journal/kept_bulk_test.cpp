// Many jobs in one request, with a journal.
#include <heist/asio.hpp>
#include <string>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

class KeptBulk : public KeptJobs {
 protected:
  explicit KeptBulk(Limits its_limits = {}) : KeptJobs(its_limits) {}

  Answer submit(std::string_view body) {
    auto outcome = begin("POST", "/jobs", body);
    while (auto* const storing = std::get_if<Storing>(&outcome)) {
      bool told = false;
      heist::async_wait(storing->answered,
                        boost::asio::bind_executor(network, [&told](const auto&) { told = true; }));
      while (!told) {
        if (!step_network()) loop.run_one();
      }
      outcome = storing->then();
    }
    return answer(std::get<Reply>(outcome));
  }
};

constexpr std::string_view two_jobs =
    "{\"kind\":\"digest\",\"text\":\"a\"}\n{\"kind\":\"digest\",\"text\":\"b\"}\n";

// Rule: JRN-1
TEST_F(KeptBulk, post_when_answered_then_the_journal_has_all_of_them_in_their_order) {
  std::string body;
  for (int i = 0; i < 300; ++i) {
    body += "{\"kind\":\"digest\",\"text\":\"" + std::to_string(i) +
            "\",\"signal\":\"night\",\"max_attempts\":7}\n";
  }
  const auto json = submit(body).json();
  ASSERT_EQ(json["accepted"], 300);
  const auto jobs = said(journal.load_unfinished(0, 1000));
  ASSERT_EQ(jobs.size(), 300U);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(jobs[i].id, json["jobs"][i]["id"].get<std::string>());
    EXPECT_EQ(jobs[i].signal_name, "night");
    EXPECT_EQ(jobs[i].max_attempts, 7U);
  }
  while (said(journal.count_unfinished()) > 0) run_all();
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(KeptBulk, post_when_the_client_has_a_rate_then_repeated_jobs_take_nothing_of_it) {
  clients.renew({std::get<ClientSpec>(parse_client_spec("anonymous rate=1/h burst=3"))});
  key = "mine";
  EXPECT_EQ(submit(two_jobs).status, 202U);
  EXPECT_EQ(submit(two_jobs).status, 202U) << "one for the request, and none for its jobs";
  EXPECT_EQ(submit(two_jobs).status, 429U);
}

// Rule: JRN-4
TEST_F(KeptBulk, post_when_it_is_repeated_with_its_key_then_the_jobs_are_the_same) {
  key = "mine";
  const auto first = submit(two_jobs).json();
  const auto again = submit(two_jobs).json();
  EXPECT_EQ(again["accepted"], 2);
  for (const std::size_t index : {0U, 1U}) {
    EXPECT_EQ(again["jobs"][index]["id"], first["jobs"][index]["id"]);
    EXPECT_EQ(again["jobs"][index]["repeated"], true);
  }
  EXPECT_EQ(said(journal.count_unfinished()), 2U);
  const auto other = submit("{\"kind\":\"digest\",\"text\":\"c\"}").json();
  EXPECT_EQ(other["jobs"][0]["error"]["code"], "idempotency_conflict");
  run_kept();
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

// Rule: JRN-4
TEST_F(KeptBulk, post_when_it_is_repeated_then_a_job_that_was_aborted_comes_anew) {
  key = "mine";
  const auto first = submit(two_jobs).json();
  const std::string gone = first["jobs"][0]["id"];
  ask("DELETE", "/jobs/" + gone);
  const auto again = submit(two_jobs).json();
  EXPECT_NE(again["jobs"][0]["id"], gone);
  EXPECT_EQ(again["jobs"][1]["id"], first["jobs"][1]["id"]);
}

class StoredBulk : public KeptBulk {
 protected:
  StoredBulk() : KeptBulk({.max_stored_uploads = 100}) {}
};

TEST_F(StoredBulk, post_when_their_uploads_are_too_many_bytes_for_the_disk_then_none_is_accepted) {
  const auto line = R"({"kind":"digest","delay":60000,"text":")" + std::string(51, 'x') + "\"}\n";
  EXPECT_EQ(submit(line + line).error(), "queue_full");
  EXPECT_EQ(anonymous.budget->stored_bytes(), 0U);
  EXPECT_EQ(submit(line).status, 202U);
  EXPECT_EQ(anonymous.budget->stored_bytes(), 51U);
}

}  // namespace
}  // namespace heistd
