// What the operator grants a client, compared with others.
#include <heistd/client_limits.hpp>
#include <heistd/token_bucket.hpp>

#include "api_fixture.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;
using std::chrono::milliseconds;
using std::chrono::seconds;

ClientSpec spec_of(std::string_view text) { return std::get<ClientSpec>(parse_client_spec(text)); }

TEST(ClientLimits, parse_when_right_then_its_parts) {
  const auto limits = spec_of("ci:t:background  rate=30/m burst=5\trunning=2 weight=3").limits;
  EXPECT_EQ(limits.rate, 30U);
  EXPECT_EQ(limits.per, seconds(60));
  EXPECT_EQ(limits.most_at_once(), 5U);
  EXPECT_EQ(limits.running, 2U);
  EXPECT_EQ(limits.weight, 3U);
  EXPECT_EQ(spec_of("ci:t:background").limits, ClientLimits());
  EXPECT_EQ(spec_of("anonymous weight=2").limits.weight, 2U);
  EXPECT_EQ(spec_of("a:t:background rate=10").limits.most_at_once(), 10U);
  EXPECT_EQ(spec_of("a:t:background rate=10/h").limits.most_at_once(), 1U);
}

TEST(ClientLimits, parse_when_wrong_then_says_what_and_not_the_token) {
  for (const auto& [limits, what] : std::vector<std::pair<std::string, std::string>>{
           {"rate=0", "rate must be a whole number from 1"},
           {"rate=10/d", "/s, /m or /h"},
           {"burst=5", "burst needs a rate"},
           {"weight=1001", "weight must be a whole number from 1 to 1000"},
           {"running=-1", "running must be"},
           {"running=1 running=2", "running is there twice"},
           {"speed=3", "a limit must be"},
           {"weight", "weight must be"}}) {
    const auto error = std::get<std::string>(parse_client_spec("a:secret:background " + limits));
    EXPECT_NE(error.find(what), std::string::npos) << limits << ": " << error;
    EXPECT_EQ(error.find("secret"), std::string::npos);
  }
}

TEST(ClientLimits, read_clients_when_two_lines_of_one_differ_then_says_so) {
  const auto read = read_clients(
      {spec_of("a:one:background weight=2"), spec_of("a:two:background weight=3")}, "");
  EXPECT_NE(std::get<std::string>(read).find("client a has other limits"), std::string::npos);
}

TEST(TokenBucket, take_when_the_burst_is_used_up_then_one_comes_with_each_interval) {
  TokenBucket bucket;
  const TokenBucket::TimePoint start{std::chrono::hours(1)};
  bucket.set({.rate = 10, .burst = 3}, start);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.take(start), std::nullopt);
  EXPECT_EQ(bucket.take(start), milliseconds(100));
  EXPECT_EQ(bucket.take(start + milliseconds(60)), milliseconds(40));
  EXPECT_EQ(bucket.take(start + milliseconds(100)), std::nullopt);
  EXPECT_EQ(bucket.take(start + milliseconds(100)), milliseconds(100));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.take(start + seconds(60)), std::nullopt);
  EXPECT_NE(bucket.take(start + seconds(60)), std::nullopt);
}

TEST(TokenBucket, owe_when_more_is_taken_than_there_is_then_later_ones_wait_for_that) {
  TokenBucket bucket;
  const TokenBucket::TimePoint start{std::chrono::hours(1)};
  bucket.set({.rate = 10, .burst = 3}, start);
  EXPECT_EQ(bucket.take(start), std::nullopt);
  for (int i = 0; i < 20; ++i) bucket.owe(start);
  EXPECT_EQ(bucket.take(start), milliseconds(1900));
  EXPECT_EQ(bucket.take(start + milliseconds(1900)), std::nullopt);
  bucket.set({}, start);
  bucket.owe(start);
  EXPECT_EQ(bucket.take(start), std::nullopt);
}

TEST(TokenBucket, owe_when_it_is_a_million_jobs_of_one_an_hour_then_an_hour_more_is_waited) {
  TokenBucket bucket;
  bucket.set({.rate = 1, .per = std::chrono::hours(1)}, {});
  for (int i = 0; i < 1'000'000; ++i) bucket.owe({});
  EXPECT_EQ(bucket.take({}), std::chrono::hours(2));
  bucket.set({.rate = 1, .per = std::chrono::hours(1), .burst = 1'000'000}, {});
  for (int i = 0; i < 4'000'000; ++i) bucket.owe({});
  EXPECT_EQ(bucket.take({}), std::chrono::hours(2));
}

TEST(TokenBucket, set_when_there_is_a_debt_then_it_is_waited_for_at_the_new_rate) {
  TokenBucket bucket;
  bucket.set({.rate = 1, .per = seconds(60)}, {});
  for (int i = 0; i < 10; ++i) bucket.owe({});
  EXPECT_EQ(bucket.take({}), seconds(600));
  bucket.set({.rate = 10, .burst = 1}, {});
  EXPECT_EQ(bucket.take({}), seconds(1));
  bucket.set({.rate = 10, .burst = 1}, {});
  EXPECT_EQ(bucket.take({}), seconds(1));
  bucket.set({.rate = 1, .per = std::chrono::hours(1)}, {});
  EXPECT_EQ(bucket.take({}), std::chrono::hours(2)) << "the longest debt";
  bucket.set({}, {});
  bucket.set({.rate = 1, .per = std::chrono::hours(1)}, {});
  EXPECT_EQ(bucket.take({}), std::nullopt);
}

TEST(TokenBucket, set_when_there_is_no_rate_then_all_is_allowed) {
  TokenBucket bucket;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bucket.take({}), std::nullopt);
  bucket.set({.rate = 1}, {});
  EXPECT_EQ(bucket.take({}), std::nullopt);
  EXPECT_NE(bucket.take({}), std::nullopt);
  bucket.set({}, {});
  EXPECT_EQ(bucket.take({}), std::nullopt);
}

struct ClientRates : ApiFixture {
  void grant(std::string_view limits) {
    clients.renew({spec_of("alice:a:user-visible " + std::string(limits))});
  }
};

TEST_F(ClientRates, post_when_the_rate_is_used_up_then_429_and_others_are_served) {
  grant("rate=1/h burst=2");
  authorization = "Bearer a";
  post("/jobs/digest");
  EXPECT_EQ(call("POST", "/jobs/digest?oops=1").status, 400U) << "which takes nothing of the rate";
  const RequestHead head{"POST", "/jobs/search?pattern=an-agent-checks-it", authorization, 1,
                         false};
  EXPECT_TRUE(std::holds_alternative<Checking>(begin(api, head)));
  EXPECT_TRUE(std::holds_alternative<Upload>(begin(api, head, Unchecked::accept)));
  run_all();
  const auto refused = call("POST", "/jobs/digest", "x");
  EXPECT_EQ(refused.status, 429U);
  EXPECT_EQ(refused.error(), "rate_limited");
  const auto wait = std::stoi(refused.header("Retry-After"));
  EXPECT_GT(wait, 3500);
  EXPECT_LE(wait, 3600);
  EXPECT_EQ(call("GET", "/jobs").status, 200U);
  const auto stats = call("GET", "/stats").json();
  EXPECT_EQ(stats["rate_limited"], 1);
  EXPECT_EQ(stats["limits"]["burst"], 2);
  EXPECT_EQ(stats["limits"]["running"], Json());
  grant("");
  EXPECT_EQ(call("POST", "/jobs/digest", "x").status, 202U);
  authorization = std::nullopt;
  post("/jobs/digest");
}

TEST_F(ClientRates,
       renew_when_anonymous_owes_then_the_same_rate_changes_nothing_and_a_higher_does) {
  clients.renew({spec_of("anonymous rate=1/h")});
  for (int i = 0; i < 6; ++i) anonymous.owe_job(Clock::now());
  clients.renew({spec_of("anonymous rate=1/h")});
  EXPECT_GT(anonymous.take_request(Clock::now())->retry_after, std::chrono::hours(1));
  clients.renew({spec_of("anonymous rate=100 burst=1")});
  const auto refusal = anonymous.take_request(Clock::now());
  EXPECT_TRUE(!refusal || refusal->retry_after == seconds(1));
}

TEST_F(ClientRates, renew_when_the_line_of_anonymous_is_gone_then_so_are_its_limits) {
  clients.renew({spec_of("anonymous weight=4")});
  EXPECT_EQ(anonymous.limits().weight, 4U);
  clients.renew({});
  EXPECT_EQ(anonymous.limits().weight, 1U);
}

TEST_F(ClientRates, metrics_when_a_client_has_limits_then_they_are_there) {
  grant("rate=30/m running=2");
  const auto text = prometheus_text({}, figures_of(clients, kinds, nullptr));
  for (const auto* line : {"limit=\"rate\"} 0.5\n", "limit=\"running\"} 2\n",
                           "heistd_rate_limited_total{client=\"alice\"} 0\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

}  // namespace
}  // namespace heistd
