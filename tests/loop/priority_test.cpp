#include <gtest/gtest.h>

#include <heist/priority.hpp>
#include <optional>
#include <string_view>

#include "support/priorities.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

// Rule: PRI-1
TEST(Pri1, WPT_SP_01_effective_priority_when_any_then_the_rank_of_the_specifications_table) {
  EXPECT_EQ(effective_priority(TaskPriority::background, false), 0);
  EXPECT_EQ(effective_priority(TaskPriority::background, true), 1);
  EXPECT_EQ(effective_priority(TaskPriority::user_visible, false), 2);
  EXPECT_EQ(effective_priority(TaskPriority::user_visible, true), 3);
  EXPECT_EQ(effective_priority(TaskPriority::user_blocking, false), 4);
  EXPECT_EQ(effective_priority(TaskPriority::user_blocking, true), 5);
}

TEST(PriorityText, to_string_when_a_priority_then_the_specifications_word) {
  EXPECT_EQ(to_string(TaskPriority::background), "background");
  EXPECT_EQ(to_string(TaskPriority::user_visible), "user-visible");
  EXPECT_EQ(to_string(TaskPriority::user_blocking), "user-blocking");
}

TEST(PriorityText, to_string_when_no_priority_then_says_invalid) {
  EXPECT_EQ(to_string(static_cast<TaskPriority>(3)), "invalid");
  EXPECT_EQ(to_string(static_cast<TaskPriority>(255)), "invalid");
}

TEST(PriorityText, parse_when_a_specification_word_then_its_priority) {
  for (const auto priority : support::every_priority) {
    EXPECT_EQ(parse_task_priority(to_string(priority)), priority);
  }
}

TEST(PriorityText, WPT_PRI_08_parse_when_any_other_text_then_nothing) {
  for (const std::string_view text :
       {"", " ", "invalid", "Background", "BACKGROUND", "user_visible", "user visible",
        "user-visible ", " user-visible", "user-blockin", "user-blockingg", "0", "1"}) {
    EXPECT_EQ(parse_task_priority(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(PriorityText, conversions_when_in_constant_expressions_then_work) {
  static_assert(parse_task_priority("user-blocking") == TaskPriority::user_blocking);
  static_assert(to_string(TaskPriority::background) == "background");
  static_assert(!parse_task_priority("idle"));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
