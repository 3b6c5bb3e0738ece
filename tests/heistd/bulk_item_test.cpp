// A line of a bulk request.
#include <gtest/gtest.h>

#include <heistd/bulk_item.hpp>
#include <string>
#include <utility>
#include <vector>

#include "work_helpers.hpp"

namespace heistd {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

BulkItem read(std::string_view line, const std::optional<std::string>& key = std::nullopt) {
  return read_bulk_item(line, key);
}
std::string payload(std::string_view line) {
  const auto item = read(line);
  EXPECT_FALSE(item.refusal) << line;
  return join(item.payload);
}
/// Of a line that is refused, which names this.
std::string field(std::string_view line) {
  const auto item = read(line);
  EXPECT_TRUE(item.refusal) << line;
  return item.refusal ? item.refusal->field : "";
}

TEST(BulkItem, read_when_it_has_all_then_it_is_as_a_request_of_its_own) {
  const auto item =
      read(R"({"kind":"search","priority":"background","delay":5,"ttl":"70","text":"a\nb",)"
           R"("parameters":{"pattern":"x","flag":true,"part":0.5}})");
  ASSERT_FALSE(item.refusal);
  EXPECT_EQ(item.kind, "search");
  auto query = item.target.query;
  std::ranges::sort(query);
  EXPECT_EQ(query, (Query{{"delay", "5"},
                          {"flag", "1"},
                          {"part", "0.5"},
                          {"pattern", "x"},
                          {"priority", "background"},
                          {"ttl", "70"}}));
  EXPECT_EQ(join(item.payload), "a\nb");
  EXPECT_EQ(item.key, std::nullopt);
}

TEST(BulkItem, read_when_the_upload_is_base64_then_it_is_decoded) {
  EXPECT_EQ(payload(R"({"kind":"k","base64":""})"), "");
  EXPECT_EQ(payload(R"({"kind":"k","base64":"AGE="})"), std::string("\0a", 2));
  EXPECT_EQ(payload(R"({"kind":"k","base64":"YQ=="})"), "a");
  EXPECT_EQ(payload(R"({"kind":"k","base64":"YWJj"})"), "abc");
  EXPECT_EQ(payload(R"({"kind":"k"})"), "");
}

TEST(BulkItem, read_when_the_base64_is_wrong_then_refused) {
  for (const std::string text :
       {"YQ", "YQ=", "Y===", "====", "YQ==YQ==", "Y=Q=", "Y-Jj", "YW\\n="}) {
    EXPECT_EQ(field(R"({"kind":"k","base64":")" + text + "\"}"), "base64") << text;
  }
  EXPECT_EQ(field(R"({"kind":"k","base64":"","text":""})"), "base64");
}

TEST(BulkItem, read_when_something_is_wrong_then_the_refusal_names_it) {
  EXPECT_EQ(field(R"({"text":"a"})"), "kind");
  EXPECT_EQ(field(R"({"kind":7})"), "kind");
  EXPECT_EQ(field(R"({"kind":"k","pattern":"a"})"), "pattern");
  EXPECT_EQ(field(R"({"kind":"k","wait":1})"), "wait");
  EXPECT_EQ(field(R"({"kind":"k","delay":[]})"), "delay");
  EXPECT_EQ(field(R"({"kind":"k","parameters":[]})"), "parameters");
  EXPECT_EQ(field(R"({"kind":"k","parameters":{"delay":1}})"), "delay");
  EXPECT_EQ(field(R"({"kind":"k","parameters":{"a":null}})"), "a");
  EXPECT_EQ(field(R"({"kind":"k","idempotency_key":"a b"})"), "idempotency_key");
  for (const auto* const line : {"", "[]", "7", "{", R"({"kind":"k"}x)", "{\"kind\":\"\xff\"}"}) {
    EXPECT_EQ(read(line).refusal->code, "bad_line") << line;
  }
}

TEST(BulkItem, read_when_there_is_a_key_then_another_line_is_another_request) {
  const auto first = read(R"({"kind":"k"})", "key");
  EXPECT_EQ(first.key->key, "key");
  EXPECT_EQ(read(R"({"kind":"k"})", "key").key->digest, first.key->digest);
  EXPECT_NE(read(R"({"kind":"l"})", "key").key->digest, first.key->digest);
  EXPECT_EQ(read(R"({"kind":"k","idempotency_key":"own"})", "key").key->key, "own");
}

}  // namespace
}  // namespace heistd
