// JsonText: what it writes is what a parser of another library reads.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <heistd/json.hpp>
#include <heistd/json_text.hpp>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include "no_memory.hpp"

namespace heistd {
namespace {

std::string object_with(std::string_view value) {
  JsonText text;
  text.begin_object();
  text.member("key", value);
  text.end_object();
  return text.text();
}

TEST(JsonTextTest, text_of_any_bytes_then_a_parser_reads_them) {
  for (const std::string& value :
       {std::string(), std::string("a \"quoted\" \\ word\n\t\x01\x7f"), std::string("\0b", 2),
        std::string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), std::string(5000, '"')}) {
    EXPECT_EQ(Json::parse(object_with(value)).at("key"), value);
  }
  EXPECT_EQ(object_with({}), R"({"key":""})");
}

TEST(JsonTextTest, text_that_is_no_utf_8_then_its_bytes_are_replaced) {
  EXPECT_EQ(Json::parse(object_with("a\xff\"b\xc3")).at("key"), "a\xef\xbf\xbd\"b\xef\xbf\xbd");
}

TEST(JsonTextTest, members_then_each_has_its_type) {
  JsonText text;
  text.begin_object();
  text.member("most", std::numeric_limits<std::uint64_t>::max());
  text.member("least", std::numeric_limits<std::int64_t>::min());
  text.member("part", 0.1);
  text.key("inner");
  text.begin_object();
  text.null_member("nothing");
  text.end_object();
  text.raw_member("raw", "[1,{}]");
  text.end_object();
  EXPECT_EQ(text.text(), R"({"most":18446744073709551615,"least":-9223372036854775808,"part":0.1,)"
                         R"("inner":{"nothing":null},"raw":[1,{}]})");
}

TEST(JsonTextTest, text_when_memory_runs_out_then_bad_alloc) {
  const std::string value(3000, 'x');
  std::size_t successes = 0;
  for (bool fails = true; fails; ++successes) {
    const NoMemory none(successes, NoMemory::Fails::once);
    try {
      static_cast<void>(object_with(value));
      fails = false;
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
  EXPECT_GT(successes, 2U);
}

}  // namespace
}  // namespace heistd
