// What is shown of two traces that differ.
#include "scenarios/replay/difference.hpp"

#include <gtest/gtest.h>

namespace heist {
namespace {

using nlohmann::json;

TEST(Difference, traces_when_the_same_then_nothing) {
  EXPECT_EQ(test::difference(json::parse(R"([["run", "A"]])"), json::parse(R"([["run", "A"]])")),
            "");
}

TEST(Difference, traces_when_an_event_differs_then_it_is_marked_among_its_neighbours) {
  const auto expected = json::parse(R"([["a"], ["b"], ["c"], ["d"], ["run", "longer"], ["f"]])");
  const auto actual = json::parse(R"([["a"], ["b"], ["c"], ["d"], ["x"], ["f"]])");
  EXPECT_EQ(test::difference(expected, actual),
            "  event  expected          actual\n"
            "  1      [\"b\"]             [\"b\"]\n"
            "  2      [\"c\"]             [\"c\"]\n"
            "  3      [\"d\"]             [\"d\"]\n"
            "> 4      [\"run\",\"longer\"]  [\"x\"]\n"
            "  5      [\"f\"]             [\"f\"]\n");
}

TEST(Difference, traces_when_one_goes_on_then_the_end_of_the_other_is_shown) {
  EXPECT_EQ(test::difference(json::parse(R"([])"), json::parse(R"([["a"]])")),
            "  event  expected  actual\n"
            "> 0      (end)     [\"a\"]\n");
  EXPECT_EQ(test::difference(json::parse(R"([["a"]])"), json::parse(R"([])")),
            "  event  expected  actual\n"
            "> 0      [\"a\"]     (end)\n");
}

// A value of another type is another value: `false` is not `0`, nor is it `"false"`.
TEST(Difference, traces_when_only_a_type_differs_then_they_differ) {
  EXPECT_NE(test::difference(json::parse("[[0]]"), json::parse("[[false]]")), "");
  EXPECT_NE(test::difference(json::parse("[[null]]"), json::parse(R"([["null"]])")), "");
}

TEST(Difference, traces_when_numbers_are_written_otherwise_then_these_are_the_same) {
  const auto expected = json::parse(R"([["a", 5.0], ["b", 1]])");
  EXPECT_EQ(test::difference(expected, json::parse(R"([["a", 5], ["b", 1.0]])")), "");
  EXPECT_EQ(test::difference(expected, json::parse(R"([["a", 5], ["b", 2]])")),
            "  event  expected   actual\n"
            "  0      [\"a\",5.0]  [\"a\",5]\n"
            "> 1      [\"b\",1]    [\"b\",2]\n");
}

}  // namespace
}  // namespace heist
