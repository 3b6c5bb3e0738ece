#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <heistd/limits.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "work_helpers.hpp"

namespace heistd {
namespace {

using std::chrono::hours;

/// What a search found, as replies show it.
struct Found {
  std::uint64_t searched = 0;
  std::uint64_t matched = 0;
  bool truncated = false;
  nlohmann::json lines;
};

Found search_in(std::string_view bytes, std::string_view pattern, std::size_t block,
                std::chrono::nanoseconds budget = hours(1), std::size_t* steps = nullptr) {
  const auto work = make_search_work(cut(bytes, block), std::string(pattern));
  const auto found = json_of(run(*work, budget, steps));
  return {found["searched"], found["matched"], found["truncated"], found["lines"]};
}

struct MatchedLine {
  std::uint64_t number = 0;
  std::string text;
};

std::vector<MatchedLine> lines_of(const Found& found) {
  std::vector<MatchedLine> lines;
  for (const auto& line : found.lines) lines.push_back({line["number"], line["text"]});
  return lines;
}

/// The plain way: std::getline and RE2 on the whole text.
std::vector<MatchedLine> reference(const std::string& bytes, const std::string& pattern) {
  std::vector<MatchedLine> lines;
  std::istringstream stream(bytes);
  const RE2 regex(pattern);
  std::string line;
  for (std::uint64_t number = 1; std::getline(stream, line); ++number) {
    if (RE2::PartialMatch(line, regex)) lines.push_back({number, line});
  }
  return lines;
}

std::string describe(const std::vector<MatchedLine>& lines) {
  std::string text;
  for (const auto& line : lines) text += std::to_string(line.number) + ":" + line.text + "\n";
  return text;
}

TEST(SearchWork, result_when_lines_cross_blocks_then_as_if_they_did_not) {
  const std::string bytes = "one apple\ntwo pears\nthree apples\nno newline apple";
  const auto expected = describe(reference(bytes, "apple"));
  for (std::size_t block = 1; block <= bytes.size() + 1; ++block) {
    EXPECT_EQ(describe(lines_of(search_in(bytes, "apple", block))), expected)
        << "blocks of " << block;
  }
}

class RandomText : public testing::TestWithParam<unsigned> {};

TEST_P(RandomText, result_when_cut_anyhow_then_as_the_reference) {
  std::mt19937 random(GetParam());
  std::string bytes(random() % 600, '\0');
  std::ranges::generate(bytes, [&] { return "ab\ncd\n"[random() % 6]; });
  for (const std::string pattern : {"ab", "^$", "^a.*d$", "[^a-c]", "b|^c"}) {
    const auto result = search_in(bytes, pattern, 1 + random() % 40);
    EXPECT_EQ(describe(lines_of(result)), describe(reference(bytes, pattern))) << pattern;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomText, testing::Range(0U, 50U));

TEST(SearchWork, line_when_matched_then_its_neighbours_do_not_count) {
  EXPECT_EQ(search_in("a\nb\n", "a\\sb", 100).matched, 0U);
  EXPECT_EQ(search_in("ab\ncd\n", "^b|b$|^cd$", 100).matched, 2U);
}

TEST(SearchWork, line_count_when_last_newline_missing_then_the_rest_is_a_line) {
  EXPECT_EQ(search_in("a\nb", "x", 100).searched, 2U);
  EXPECT_EQ(search_in("a\nb\n", "x", 100).searched, 2U);
  EXPECT_EQ(search_in("\n\n", "^$", 100).matched, 2U);
  EXPECT_EQ(search_in("", "^$", 100).searched, 0U);
}

TEST(SearchWork, result_when_too_many_lines_then_truncated_and_counted) {
  std::string bytes;
  for (std::size_t i = 0; i < max_matched_lines + 5; ++i) bytes += "x\n";
  const auto result = search_in(bytes, "x", block_bytes);
  EXPECT_EQ(result.lines.size(), max_matched_lines);
  EXPECT_EQ(result.matched, max_matched_lines + 5);
  EXPECT_TRUE(result.truncated);
}

TEST(SearchWork, result_when_too_many_bytes_then_truncated) {
  const std::string line(max_line_bytes - 1, 'x');
  std::string bytes;
  ASSERT_EQ(max_matched_bytes / line.size(), 4U);
  for (std::size_t i = 0; i < 6; ++i) bytes += line + "\n";
  const auto result = search_in(bytes, "x", block_bytes);
  EXPECT_EQ(result.lines.size(), 3U);  // with their numbers a fourth one does not fit
  EXPECT_EQ(result.matched, 6U);
}

TEST(SearchWork, line_when_too_long_then_the_job_fails_and_names_it) {
  const auto bytes = "short\n" + std::string(max_line_bytes + 1, 'x');
  for (const std::size_t block : {block_bytes, 10 * kib}) {
    try {
      search_in(bytes, "x", block);
      FAIL() << "no failure";
    } catch (const JobFailure& failure) {
      EXPECT_EQ(failure.code(), "line_too_long");
      EXPECT_NE(std::string(failure.what()).find("line 2 "), std::string::npos);
    }
  }
}

TEST(SearchWork, line_when_as_long_as_allowed_then_searched) {
  EXPECT_EQ(search_in(std::string(max_line_bytes, 'x'), "x$", 10 * kib).matched, 1U);
}

TEST(SearchWork, step_when_no_budget_then_one_line_at_a_time) {
  std::size_t steps = 0;
  search_in("a\nb\nc\nd\n", "a", 100, std::chrono::nanoseconds{}, &steps);
  EXPECT_GE(steps, 4U);
}

TEST(SearchWork, lines_when_they_are_no_text_then_what_is_kept_is_bounded_as_it_is_shown) {
  std::string bytes;
  for (int i = 0; i < 6; ++i) bytes += std::string(20 * kib, '\x01') + "\n";  // six times as much
  const auto work = make_search_work(cut(bytes, block_bytes), "^\\x01");
  const auto result = run(*work);
  EXPECT_EQ(json_of(result)["lines"].size(), 2U);
  EXPECT_LE(kept_bytes(result), max_matched_bytes + 300);
}

TEST(SearchWork, pattern_when_wrong_then_the_job_fails_and_says_so) {
  try {
    search_in("text", "a(b", 100);
    FAIL() << "no failure";
  } catch (const JobFailure& failure) {
    EXPECT_EQ(failure.code(), "bad_pattern");
  }
}

}  // namespace
}  // namespace heistd
