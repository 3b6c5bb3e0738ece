#include <gtest/gtest.h>

#include <heistd/parameter.hpp>

namespace heistd {
namespace {

std::string complaint(const Parameter& parameter, std::string_view value) {
  return complaint_about(parameter, value).value_or("");
}

TEST(ParameterValues, value_when_of_its_type_then_no_complaint) {
  EXPECT_EQ(complaint({.name = "p"}, ""), "");
  EXPECT_EQ(complaint({.name = "p"}, "any text"), "");
  for (const auto* value : {"0", "-7", "9223372036854775807"}) {
    EXPECT_EQ(complaint({.name = "p", .type = ParameterType::integer}, value), "") << value;
  }
  for (const auto* value : {"2", "-0.5", "1e3"}) {
    EXPECT_EQ(complaint({.name = "p", .type = ParameterType::number}, value), "") << value;
  }
  for (const auto* value : {"0", "1"}) {
    EXPECT_EQ(complaint({.name = "p", .type = ParameterType::flag}, value), "") << value;
  }
}

TEST(ParameterValues, value_when_of_another_type_then_the_complaint_says_what_it_must_be) {
  for (const auto* value : {"", "x", "1.5", "1x", " 1", "9223372036854775808"}) {
    EXPECT_EQ(complaint({.name = "p", .type = ParameterType::integer}, value),
              "must be a whole number")
        << value;
  }
  for (const auto* value : {"", "x", "1.5x", "inf", "nan"}) {
    EXPECT_EQ(complaint({.name = "p", .type = ParameterType::number}, value), "must be a number")
        << value;
  }
  for (const auto* value : {"", "2", "true"}) {
    EXPECT_EQ(complaint({.name = "p", .type = ParameterType::flag}, value), "must be 0 or 1")
        << value;
  }
}

TEST(ParameterValues, value_when_beyond_a_bound_then_the_complaint_names_the_bounds) {
  const Parameter percent{.name = "p", .type = ParameterType::integer, .least = 1, .most = 100};
  EXPECT_EQ(complaint(percent, "1") + complaint(percent, "100"), "");
  EXPECT_EQ(complaint(percent, "0"), "must be a whole number: 1 to 100");
  EXPECT_EQ(complaint(percent, "101"), "must be a whole number: 1 to 100");
  const Parameter ratio{.name = "p", .type = ParameterType::number, .least = 0.5};
  EXPECT_EQ(complaint(ratio, "0.5"), "");
  EXPECT_EQ(complaint(ratio, "0.4"), "must be a number: 0.5 or more");
  const Parameter word{.name = "p", .most = 3};
  EXPECT_EQ(complaint(word, "abc"), "");
  EXPECT_EQ(complaint(word, "abcd"), "must be a text: 3 or less bytes");
}

}  // namespace
}  // namespace heistd
