#include <gtest/gtest.h>

#include <heistd/target.hpp>

namespace heistd {
namespace {

using Path = std::vector<std::string>;
using Query = std::vector<std::pair<std::string, std::string>>;

TEST(Target, parse_when_plain_then_segments_and_parameters_in_order) {
  const auto target = parse_target("/jobs/search?pattern=a&wait=1&pattern=b");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (Path{"jobs", "search"}));
  EXPECT_EQ(target->query, (Query{{"pattern", "a"}, {"wait", "1"}, {"pattern", "b"}}));
}

TEST(Target, parse_when_encoded_then_decoded) {
  const auto target = parse_target("/signals/a%2Fb?pattern=%5Bx%5D%20y+z%2B");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (Path{"signals", "a/b"}));
  EXPECT_EQ(target->query, (Query{{"pattern", "[x] y z+"}}));
}

TEST(Target, parse_when_query_should_be_encoded_then_taken_as_it_is) {
  const auto target = parse_target("/x?pattern=^[a-z]{2}|\"\\d\xc3\xa4$");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->query, (Query{{"pattern", "^[a-z]{2}|\"\\d\xc3\xa4$"}}));
}

TEST(Target, parse_when_root_then_no_segments) { EXPECT_TRUE(parse_target("/")->path.empty()); }

TEST(Target, parse_when_absolute_http_url_then_its_path) {
  EXPECT_EQ(parse_target("http://localhost:8080/healthz")->path, (Path{"healthz"}));
}

TEST(Target, parse_when_wrong_then_refused) {
  for (const auto* text :
       {"", "*", "jobs", "/a?b=%", "/a?b=%zz", "/a b", "ftp://host/x", "/\x01"}) {
    const auto target = parse_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().status, 400U);
    EXPECT_EQ(target.error().code, "bad_target");
  }
}

}  // namespace
}  // namespace heistd
