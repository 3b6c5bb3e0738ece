// Patterns: what is refused, and that no line makes a step of matching long.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <heistd/job_result.hpp>
#include <heistd/limits.hpp>
#include <random>

#include "work_helpers.hpp"

namespace heistd {
namespace {

std::string refusal_of(std::string_view pattern) {
  const auto checked = LinePattern::check(pattern);
  const auto* text = std::get_if<std::string>(&checked);
  return text == nullptr ? "" : *text;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

std::string noise(std::size_t bytes, std::string_view of, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  std::ranges::generate(text, [&] { return of[random() % of.size()]; });
  return text;
}

TEST(LinePattern, check_when_wrong_then_says_why) {
  EXPECT_NE(refusal_of("a(b").find("missing )"), std::string::npos);
  EXPECT_NE(refusal_of("\xff").find("UTF-8"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(max_pattern_bytes + 1, 'x')).find("longer"), std::string::npos);
  EXPECT_NE(refusal_of("((x{100}){100}){100}"), "");
}

TEST(LinePattern, check_when_it_would_take_long_then_refused) {
  // The sum of the repetitions: RE2 expands each before it looks at the size of the whole.
  EXPECT_NE(refusal_of(repeated("-{1000}", 100)).find("repetitions add up"), std::string::npos);
  EXPECT_NE(refusal_of("(a{3,99999999999999999999})").find("repetitions"), std::string::npos);
  EXPECT_NE(refusal_of(repeated("\\pL", 5)).find("Unicode classes"), std::string::npos);
  EXPECT_NE(refusal_of("(?i)[" + repeated("\\PL\\pL", 100) + "]").find("Unicode"),
            std::string::npos);
  EXPECT_NE(refusal_of(repeated("a{0,30}|", 60)).find("too large"), std::string::npos);
  EXPECT_NE(refusal_of("a[ab]{900}c|a[ab]{901}c|a[ab]{902}c|a[ab]{903}c"), "");
}

TEST(LinePattern, check_when_an_ordinary_one_then_accepted) {
  for (const auto* pattern :
       {"ERROR", "timeout|refused|unreachable", "(?i)fatal.*code=\\d{3}", "\\p{Lu}\\pL*", "a{1000}",
        "a.{100}c", "\\\\pL\\\\pL\\\\pL\\\\pL\\\\pL is no class", "\\x{1F600}{2,}", "^$", "",
        "^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)$"}) {
    EXPECT_EQ(refusal_of(pattern), "") << pattern;
  }
}

TEST(LinePattern, match_when_line_is_no_text_then_bytes_are_passed_over) {
  EXPECT_TRUE(matches(*compiled("needle"), "\xff\xfe needle \x80"));
}

// What a portion costs in the worst case is a figure of the ADR; that it is one, whatever the line,
// is here.
TEST(LinePattern, match_when_line_is_long_then_each_step_adds_one_portion_of_bytes) {
  for (const auto* pattern : {"x", "a[ab]{30}x", "(?i)[a-f]{200}x", "a[ab]{900}x"}) {
    const auto one = compiled(pattern);
    const auto program = RE2(pattern).ProgramSize();
    const auto portion = one->portion_bytes();
    EXPECT_LE(portion * (LinePattern::byte_time + program * LinePattern::instruction_time),
              LinePattern::portion_time);
    std::size_t portions = 0;
    EXPECT_FALSE(matches(*one, std::string(portion, '-'), &portions));
    EXPECT_EQ(portions, 1U);
    EXPECT_FALSE(matches(*one, std::string(5 * portion + 1, '-'), &portions));
    EXPECT_EQ(portions, 6U);
  }
}

TEST(LinePattern, match_when_the_automaton_outgrows_its_memory_in_a_long_line_then_too_costly) {
  const auto pattern = compiled("a[ab]{300}c");
  try {
    static_cast<void>(matches(*pattern, noise(max_line_bytes, "ab", 1)));
    FAIL() << "no failure";
  } catch (const JobFailure& failure) {
    EXPECT_EQ(failure.code(), "pattern_too_costly");
  }
}

TEST(LinePattern, match_when_the_memory_is_full_of_short_lines_states_then_long_lines_still_fit) {
  const auto pattern = compiled("a[ab]{30}c");
  for (unsigned seed = 0; seed < 20; ++seed) {
    EXPECT_FALSE(matches(*pattern, noise(pattern->portion_bytes(), "ab", seed)));
    EXPECT_TRUE(matches(*pattern, std::string(20 * kib, '-') + "a" + std::string(30, 'b') + "c"));
  }
}

// Against RE2 by itself, which does not match in portions.
class RandomPatterns : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPatterns, match_when_lines_take_many_portions_then_as_re2_says) {
  static constexpr std::string_view parts[] = {"a",   "b",      "[ab]",  ".",   "^",   "$",
                                               "\\b", "(a|b)*", "c?",    "|a",  "\\z", "+c",
                                               "{3}", "\\d+",   "(?i)B", "[^a]"};
  std::mt19937 random(GetParam());
  std::string text;
  for (auto count = 1 + random() % 8; count > 0; --count)
    text += parts[random() % std::size(parts)];
  const RE2 reference(text, RE2::Quiet);
  if (!reference.ok()) return;
  const auto pattern = compiled(text);
  for (const auto* letters : {"ab", "a", "abc ", "b1 a", "xyz"}) {
    const auto line = noise(random() % (4 * pattern->portion_bytes()), letters, GetParam());
    EXPECT_EQ(matches(*pattern, line), RE2::PartialMatch(line, reference)) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPatterns, testing::Range(0U, 200U));

}  // namespace
}  // namespace heistd
