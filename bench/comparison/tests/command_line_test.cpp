// The frame as its users see it: what the trial program prints, and its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

using testing::HasSubstr;
using testing::Not;

struct Ended {
  int status = -1;
  std::string said;  ///< on both outputs
};

Ended run(const std::string& arguments) {
  const std::string command = "'" HEIST_TRIAL "' " + arguments + " 2>&1";
  std::FILE* const output = popen(command.c_str(), "r");
  Ended ended;
  std::array<char, 4096> block{};
  while (std::fgets(block.data(), block.size(), output) != nullptr) ended.said += block.data();
  const int status = pclose(output);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  return ended;
}

/// Option --bars with a file of that text.
std::string bars(const std::string& text) {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string file = testing::TempDir() + test->name() + ".tsv";
  std::ofstream(file) << text;
  return " --bars '" + file + "' ";
}

TEST(CommandLine, bar_when_reached_then_status_is_0) {
  const auto ended = run("--rounds 3 --only known" + bars("known\theist\tknown\tpeer\t0.5\n"));
  EXPECT_EQ(ended.status, 0) << ended.said;
  EXPECT_THAT(ended.said, HasSubstr("known heist <= 0.5 x known peer: 0.5 OK\n"));
}

TEST(CommandLine, bar_when_impossibly_low_then_status_is_1) {
  const auto ended = run("--rounds 3 --only known" + bars("known\theist\t-\t-\t0.001\n"));
  EXPECT_EQ(ended.status, 1) << ended.said;
  EXPECT_THAT(ended.said, HasSubstr("known heist <= 0.001: 30 SHORT\n"));
}

TEST(CommandLine, bar_when_its_rows_were_not_run_then_that_is_said) {
  const auto ended =
      run("--rounds 1 --only 'known heist'" + bars("known\theist\tknown\tpeer\t9\n"));
  EXPECT_EQ(ended.status, 0) << ended.said;
  EXPECT_THAT(ended.said, HasSubstr("not judged"));
}

TEST(CommandLine, bars_when_malformed_then_file_and_line_are_named) {
  const auto ended = run("--only known" + bars("# ratio\nknown\theist\tknown\n"));
  EXPECT_EQ(ended.status, 2) << ended.said;
  EXPECT_THAT(ended.said, HasSubstr(".tsv:2: not five fields between tabs"));
}

TEST(CommandLine, bars_when_a_row_is_unknown_then_file_and_line_are_named) {
  const auto ended = run("--only known" + bars("known\tnobody\t-\t-\t1\n"));
  EXPECT_EQ(ended.status, 2) << ended.said;
  EXPECT_THAT(ended.said, HasSubstr(".tsv:1: there is no row \"known nobody\""));
}

TEST(CommandLine, bars_when_limit_is_no_positive_number_then_file_and_line_are_named) {
  for (const char* limit : {"0", "-1", "x", "1x", "nan", "inf", "1e999"}) {
    const auto ended = run("--only known" + bars(std::string("known\theist\t-\t-\t") + limit));
    EXPECT_EQ(ended.status, 2) << ended.said;
    EXPECT_THAT(ended.said, HasSubstr(".tsv:1: \"")) << limit;
  }
}

TEST(CommandLine, bars_when_the_file_has_none_then_it_is_named) {
  const auto ended = run("--only known" + bars("# nothing but a comment\n"));
  EXPECT_EQ(ended.status, 2) << ended.said;
  EXPECT_THAT(ended.said, HasSubstr(".tsv: has no bars"));
}

/// Who did nothing, or gave memory back, has not reached anything.
TEST(CommandLine, bar_when_the_figure_is_not_positive_then_it_falls_short) {
  for (const char* workload : {"nothing", "less"}) {
    for (const char* other : {"-\t-", "known\tpeer"}) {
      const auto ended = run(std::string("--rounds 1 --only 'known|nothing|less'") +
                             bars(std::string(workload) + "\theist\t" + other + "\t9\n"));
      EXPECT_EQ(ended.status, 1) << ended.said;
      EXPECT_THAT(ended.said, HasSubstr("SHORT"));
    }
  }
}

TEST(CommandLine, child_when_it_misbehaves_then_it_is_named_and_status_is_2) {
  for (const auto& [subject, complaint] :
       {std::pair{"dies", "was killed by signal 6"}, std::pair{"fails", "ended with status 3"},
        std::pair{"hangs", "took longer than 500 ms"}, std::pair{"mumbles", "said \"well "},
        std::pair{"forgets", "said \""}}) {
    const auto ended = run(std::string("--rounds 1 --limit 0.5 --only 'trouble ") + subject + "'");
    EXPECT_EQ(ended.status, 2) << ended.said;
    EXPECT_THAT(ended.said, HasSubstr(std::string("trouble ") + subject + ": " + complaint));
  }
}

TEST(CommandLine, only_when_it_finds_nothing_then_status_is_2) {
  EXPECT_EQ(run("--only nothing_of_that_name").status, 2);
  EXPECT_EQ(run("--only '['").status, 2);
}

TEST(CommandLine, rounds_when_out_of_range_then_the_range_is_said) {
  const auto ended = run("--rounds 0 --only known");
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.said, HasSubstr("--rounds: Value 0 not in range 1 to 1000\n"));
}

TEST(CommandLine, table_when_tsv_then_ratio_is_to_the_best_peer_not_to_the_floor) {
  const auto ended = run("--tsv --rounds 3 --only known");
  EXPECT_EQ(ended.status, 0) << ended.said;
  EXPECT_THAT(ended.said, HasSubstr("known\theist\t30.0\t30.0\t30.0\tns\t3\tpeer\t0.500\t"));
  EXPECT_THAT(ended.said, Not(HasSubstr("worse_peer\t90.0\t90.0\t90.0\tns\t3\tworse_peer")));
}

}  // namespace
