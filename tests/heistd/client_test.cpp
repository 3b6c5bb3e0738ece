#include <gtest/gtest.h>

#include <heistd/client.hpp>
#include <heistd/job_id.hpp>
#include <set>

namespace heistd {
namespace {

using heist::TaskPriority;

const std::vector<ClientSpec> two_clients = {{"alice", "token-a", TaskPriority::background},
                                             {"bob", "token-b", TaskPriority::user_blocking}};

TEST(ClientSpec, parse_when_right_then_its_parts) {
  const auto parsed = std::get<ClientSpec>(parse_client_spec("ci-1:AbC123==:user-visible"));
  EXPECT_EQ(parsed.name, "ci-1");
  EXPECT_EQ(parsed.token, "AbC123==");
  EXPECT_EQ(parsed.ceiling, TaskPriority::user_visible);
}

TEST(ClientSpec, parse_when_wrong_then_says_what) {
  const auto error = [](std::string_view text) {
    return std::get<std::string>(parse_client_spec(text));
  };
  for (const auto* text : {"", "a", "a:b"})
    EXPECT_NE(error(text).find("NAME:TOKEN"), std::string::npos);
  EXPECT_TRUE(error(":t:background").starts_with("NAME"));
  EXPECT_TRUE(error("a b:t:background").starts_with("NAME"));
  EXPECT_TRUE(error("a::background").starts_with("TOKEN"));
  EXPECT_TRUE(error("a:t t:background").starts_with("TOKEN"));
  EXPECT_TRUE(error("a:t:urgent").starts_with("CEILING"));
}

TEST(Sec1, authenticate_when_token_known_then_its_client) {
  const ClientTable table(two_clients, TaskPriority::background, {});
  EXPECT_EQ((*table.authenticate("Bearer token-a"))->name, "alice");
  EXPECT_EQ((*table.authenticate("bearer token-b"))->name, "bob");
  EXPECT_EQ((*table.authenticate(std::nullopt))->name, "anonymous");
}

TEST(Sec1, authenticate_when_token_unknown_then_refused_and_not_anonymous) {
  const ClientTable table(two_clients, TaskPriority::background, {});
  for (const auto* header : {"Bearer token-c", "Bearer ", "Bearer", "Basic token-a", "token-a", "",
                             "Bearer  token-a", "Bearer token-a "}) {
    const auto client = table.authenticate(header);
    ASSERT_FALSE(client) << header;
    EXPECT_EQ(client.error().status, 401U);
  }
}

TEST(Sec1, authenticate_when_anonymous_clients_are_refused_then_a_token_is_needed) {
  const ClientTable table(two_clients, std::nullopt, {});
  EXPECT_EQ(table.authenticate(std::nullopt).error().status, 401U);
}

TEST(Sec1, default_priority_when_ceiling_low_then_the_ceiling) {
  EXPECT_EQ(Client("c", TaskPriority::background, {}).default_priority(), TaskPriority::background);
  EXPECT_EQ(Client("c", TaskPriority::user_blocking, {}).default_priority(),
            TaskPriority::user_visible);
}

TEST(Sec1, job_id_when_made_then_128_bits_that_never_repeat) {
  std::set<JobId> ids;
  for (int i = 0; i < 1000; ++i) {
    const auto id = make_job_id();
    EXPECT_TRUE(is_job_id(id)) << id;
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
}

TEST(JobId, is_job_id_when_form_wrong_then_false) {
  EXPECT_FALSE(is_job_id(""));
  EXPECT_FALSE(is_job_id(std::string(31, 'a')));
  EXPECT_FALSE(is_job_id(std::string(33, 'a')));
  EXPECT_FALSE(is_job_id(std::string(32, 'g')));
}

}  // namespace
}  // namespace heistd
