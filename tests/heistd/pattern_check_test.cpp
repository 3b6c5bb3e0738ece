// Patterns are compiled by agents, at the client's ceiling, and known afterwards.
#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>

#include "api_fixture.hpp"

namespace heistd {
namespace {

struct PatternChecks : ApiFixture {
  Api::Step begin(std::string_view pattern, Unchecked unchecked = Unchecked::check) {
    target = "/jobs/search?pattern=" + std::string(pattern);
    return heistd::begin(api, {"POST", target, authorization, 1, false}, unchecked);
  }
  std::string refused(std::string_view pattern) {
    const auto step = begin(pattern);
    const auto* reply = std::get_if<Reply>(&step);
    return reply == nullptr ? "" : answer(*reply).error();
  }
  [[nodiscard]] std::string about(const std::string& pattern) const {
    return checked_text(*kinds.find("search"), {{"pattern", pattern}});
  }
  std::string target;
};

TEST_F(PatternChecks, request_when_its_pattern_is_new_then_it_waits_for_an_agent) {
  const auto step = begin("a(b");
  ASSERT_TRUE(std::holds_alternative<Checking>(step));
  const auto& verdict = std::get<Checking>(step).verdict;
  EXPECT_FALSE(verdict.settled());
  bool is_known = false;
  heist::async_wait(verdict, boost::asio::bind_executor(network, [&](auto&&...) {
                      is_known = anonymous.verdicts.find(about("a(b")) != nullptr;
                    }));
  run_all();
  EXPECT_TRUE(is_known);
  EXPECT_EQ(refused("a(b"), "bad_pattern");
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(PatternChecks, request_when_its_pattern_is_known_then_no_agent_is_asked) {
  static_cast<void>(begin("ab"));
  run_all();
  const auto tasks = loop.stats().tasks_run;
  EXPECT_TRUE(std::holds_alternative<Upload>(begin("ab")));
  run_all();
  EXPECT_EQ(loop.stats().tasks_run, tasks);
}

TEST_F(PatternChecks,
       request_when_agents_do_not_come_to_its_pattern_then_the_job_says_what_is_wrong) {
  auto step = begin("a(b", Unchecked::accept);
  auto end = api.finish(std::move(std::get<Upload>(step)));
  const auto job = answer(std::get<Reply>(end)).header("Location");
  run_all();
  EXPECT_EQ(state(job), "failed");
  EXPECT_EQ(call("GET", job).json()["error"]["code"], "bad_pattern");
}

// Rule: SEC-1. Nobody's patterns are compiled before more urgent work of others.
TEST_F(PatternChecks, check_when_the_client_has_a_low_ceiling_then_higher_jobs_go_first) {
  authorization = "Bearer b";
  const auto step = begin("ab");
  authorization = "Bearer a";
  const auto high = post("/jobs/digest");
  run_one();
  EXPECT_EQ(state(high), "done");
  EXPECT_FALSE(std::get<Checking>(step).verdict.settled());
}

// Rule: SEC-1. Compiling such a pattern took the network thread 50 ms, and others waited for
// seconds.
TEST_F(PatternChecks,
       checks_when_a_client_floods_with_bad_patterns_then_others_urgent_jobs_go_first) {
  constexpr int flood = 20;
  std::vector<heist::Promise<void>> checks;
  for (int round = 0; round < 20; ++round) {
    authorization = "Bearer b";
    for (int i = 0; i < flood; ++i) {
      const auto step = begin("(-{0,30}){127}" + std::to_string(flood * round + i));
      ASSERT_TRUE(std::holds_alternative<Checking>(step));
      checks.push_back(std::get<Checking>(step).verdict);
    }
    authorization = "Bearer a";
    const auto urgent = post("/jobs/digest");
    run_one();
    ASSERT_EQ(state(urgent), "done");
  }
  EXPECT_TRUE(std::ranges::none_of(checks, [](const auto& check) { return check.settled(); }));
  authorization = "Bearer b";
  run_all();
  EXPECT_TRUE(std::ranges::all_of(checks, [](const auto& check) { return check.settled(); }));
  EXPECT_EQ(refused("(-{0,30}){127}0"), "");  // asked again: only the newest are known
  EXPECT_EQ(refused("(-{0,30}){127}399"), "bad_pattern");
}

TEST_F(PatternChecks, check_when_the_loop_is_closed_then_503) {
  loop.close(heist::CloseMode::abort());
  EXPECT_EQ(refused("ab"), "shutting_down");
}

TEST(Verdicts, add_when_too_many_then_the_oldest_is_forgotten) {
  Verdicts verdicts;
  for (std::size_t i = 0; i <= Verdicts::max_verdicts; ++i) {
    verdicts.add(std::to_string(i), {bad_parameter("p", "bad")});
  }
  EXPECT_EQ(verdicts.find("0"), nullptr);
  ASSERT_NE(verdicts.find("1"), nullptr);
  EXPECT_EQ(verdicts.find("1")->refusal->message, "bad");
}

}  // namespace
}  // namespace heistd
