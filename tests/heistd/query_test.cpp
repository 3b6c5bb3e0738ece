#include <gtest/gtest.h>

#include <heistd/query.hpp>

namespace heistd {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds most{1000};

/// A query text and what reads it.
struct Reading {
  explicit Reading(const std::string& text) : target(*parse_target("/x?" + text)), query(target) {}
  Target target;
  QueryReader query;

  std::string refused_field() {
    const auto refusal = query.finish();
    return refusal ? refusal->field : "";
  }
};

TEST(QueryReader, text_when_given_then_read_and_nothing_refused) {
  Reading reading("a=1&b=");
  EXPECT_EQ(reading.query.text("a"), "1");
  EXPECT_EQ(reading.query.text("b"), "");
  EXPECT_EQ(reading.query.text("c"), std::nullopt);
  EXPECT_EQ(reading.refused_field(), "");
}

TEST(QueryReader, text_when_given_twice_then_refused) {
  Reading reading("a=1&a=1");
  EXPECT_TRUE(reading.query.text("a"));
  EXPECT_EQ(reading.refused_field(), "a");
}

TEST(QueryReader, finish_when_parameter_unknown_then_refused) {
  Reading reading("a=1&other=2");
  EXPECT_TRUE(reading.query.text("a"));
  EXPECT_EQ(reading.refused_field(), "other");
}

TEST(QueryReader, priority_when_named_as_in_the_specification_then_read) {
  Reading reading("p=user-blocking");
  EXPECT_EQ(reading.query.priority("p"), heist::TaskPriority::user_blocking);
  EXPECT_EQ(reading.refused_field(), "");
}

TEST(QueryReader, priority_when_another_word_then_refused) {
  for (const auto* text : {"p=urgent", "p=", "p=Background", "p=user_blocking"}) {
    Reading reading(text);
    EXPECT_EQ(reading.query.priority("p"), std::nullopt);
    EXPECT_EQ(reading.refused_field(), "p") << text;
  }
}

TEST(QueryReader, duration_when_whole_and_in_range_then_read) {
  EXPECT_EQ(Reading("d=0").query.duration("d", most), milliseconds(0));
  EXPECT_EQ(Reading("d=1000").query.duration("d", most), milliseconds(1000));
  EXPECT_EQ(Reading("").query.duration("d", most), milliseconds(0));
}

TEST(QueryReader, duration_when_anything_else_then_refused) {
  for (const auto* text : {"d=-1", "d=1001", "d=1.5", "d=1e2", "d=%201", "d=", "d=0x10", "d=%2B1",
                           "d=99999999999999999999999"}) {
    Reading reading(text);
    EXPECT_EQ(reading.query.duration("d", most), milliseconds(0));
    EXPECT_EQ(reading.refused_field(), "d") << text;
  }
}

TEST(QueryReader, patience_when_a_time_or_0_or_1_then_it_is_read_and_other_texts_are_refused) {
  EXPECT_FALSE(Reading("w=0").query.patience("w").any());
  EXPECT_FALSE(Reading("").query.patience("w").any());
  EXPECT_EQ(Reading("w=1").query.patience("w").most, std::nullopt);
  EXPECT_EQ(Reading("w=30s").query.patience("w").most, milliseconds(30'000));
  EXPECT_EQ(Reading("w=1500ms").query.patience("w").most, milliseconds(1500));
  EXPECT_EQ(Reading("w=60m").query.patience("w").most, std::chrono::hours(1));
  for (const auto* text : {"w=true", "w=", "w=2", "w=61m", "w=0s", "w=-1s", "w=1h", "w=1.5s"}) {
    Reading reading(text);
    EXPECT_FALSE(reading.query.patience("w").any());
    EXPECT_EQ(reading.refused_field(), "w") << text;
  }
}

TEST(QueryReader, finish_when_several_things_are_wrong_then_the_first_is_named) {
  Reading reading("p=bad&d=bad");
  std::ignore = reading.query.priority("p");
  std::ignore = reading.query.duration("d", most);
  EXPECT_EQ(reading.refused_field(), "p");
}

TEST(IsName, when_short_and_plain_then_true) {
  EXPECT_TRUE(is_name("a.B-9_"));
  EXPECT_TRUE(is_name(std::string(64, 'a')));
}

TEST(IsName, when_anything_else_then_false) {
  for (const std::string& text : {std::string(), std::string(65, 'a'), std::string("a b"),
                                  std::string("a/b"), std::string("\xc3\xa4"), std::string(1, 0)}) {
    EXPECT_FALSE(is_name(text)) << text;
  }
}

}  // namespace
}  // namespace heistd
