#include <gtest/gtest.h>

#include <heistctl/failure.hpp>
#include <heistctl/options.hpp>

namespace heistctl {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

std::variant<Options, int> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "heistctl");
  return parse_options(static_cast<int>(words.size()), words.data());
}

Options parsed(std::vector<const char*> words) {
  return std::get<Options>(parse(std::move(words)));
}

TEST(Options, submit_when_it_has_parameters_then_they_make_the_query) {
  const auto options = parsed({"submit", "search", "a.log", "--param", "pattern=a=b", "--delay",
                               "2m", "--priority=background", "--signal", "night", "--ttl", "1h",
                               "--timeout=30s", "--after=0123"});
  EXPECT_EQ(options.command, Command::submit);
  EXPECT_EQ(options.kind, "search");
  EXPECT_EQ(options.file, "a.log");
  EXPECT_FALSE(options.waits);
  EXPECT_EQ(options.parameters, (Parameters{{"priority", "background"},
                                            {"signal", "night"},
                                            {"delay", "120000"},
                                            {"ttl", "3600000"},
                                            {"timeout", "30000"},
                                            {"after", "0123"},
                                            {"pattern", "a=b"}}));
}

TEST(Options, submit_when_there_is_no_file_then_it_is_the_standard_input) {
  EXPECT_EQ(parsed({"submit", "digest"}).file, "-");
  EXPECT_EQ(parsed({"submit", "digest", "-"}).file, "-");
}

TEST(Options, submit_when_there_is_an_output_then_it_waits) {
  EXPECT_TRUE(parsed({"submit", "digest", "-o", "result"}).waits);
}

TEST(Options, server_when_it_stands_behind_the_command_then_it_counts) {
  const auto options = parsed({"health", "--server", "unix:/x", "--retry-for", "500ms"});
  EXPECT_EQ(options.server, "unix:/x");
  EXPECT_EQ(options.retry_for, std::chrono::milliseconds(500));
  EXPECT_TRUE(options.waits_for_server);
  EXPECT_FALSE(parsed({"health", "--retry-for", "0s"}).waits_for_server);
}

TEST(Options, signal_when_it_is_named_as_a_command_then_it_is_a_name) {
  const auto options = parsed({"signal", "list", "abort"});
  EXPECT_EQ(options.command, Command::signal);
  EXPECT_EQ(options.signal, "list");
  EXPECT_TRUE(options.aborts_signal);
}

TEST(Options, pause_then_it_is_of_a_kind_or_a_signal) {
  const auto options = parsed({"resume", "kind", "digest"});
  EXPECT_EQ(options.command, Command::resume);
  EXPECT_EQ(options.paused, "kind");
  EXPECT_EQ(options.paused_name, "digest");
}

TEST(Options, signal_when_it_gets_a_priority_then_that_is_no_parameter) {
  const auto options = parsed({"signal", "night", "priority", "user-blocking"});
  EXPECT_FALSE(options.aborts_signal);
  EXPECT_EQ(options.priority, "user-blocking");
  EXPECT_EQ(options.parameters, Parameters{});
}

TEST(Options, list_when_it_has_filters_then_they_make_the_query) {
  EXPECT_EQ(parsed({"list", "--state", "dead", "--signal", "night"}).parameters,
            (Parameters{{"signal", "night"}, {"state", "dead"}}));
}

TEST(Options, all_when_it_has_filters_then_they_make_the_query) {
  const auto options = parsed({"delete", "--all", "--state", "done", "--kind", "digest"});
  EXPECT_TRUE(options.all);
  EXPECT_EQ(options.parameters, (Parameters{{"state", "done"}, {"kind", "digest"}}));
  EXPECT_TRUE(parsed({"retry", "--all"}).all);
  EXPECT_FALSE(parsed({"retry", "id"}).all);
}

TEST(Options, help_when_it_is_asked_for_then_nothing_is_wrong) {
  EXPECT_EQ(std::get<int>(parse({"--help"})), 0);
  EXPECT_EQ(std::get<int>(parse({"submit", "--help"})), 0);
  EXPECT_EQ(std::get<int>(parse({"--version"})), 0);
}

class WrongCommandLine : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(WrongCommandLine, parse_then_the_exit_code_is_that_of_usage) {
  const auto outcome = parse(GetParam());
  ASSERT_TRUE(std::holds_alternative<int>(outcome));
  EXPECT_EQ(std::get<int>(outcome), static_cast<int>(ExitCode::usage));
}

INSTANTIATE_TEST_SUITE_P(Words, WrongCommandLine,
                         testing::ValuesIn(std::vector<std::vector<const char*>>{
                             {},
                             {"unknown"},
                             {"submit"},
                             {"submit", "digest", "a", "b"},
                             {"submit", "digest", "--delay", "5"},
                             {"submit", "digest", "--delay", "25h"},
                             {"submit", "digest", "--priority", "urgent"},
                             {"submit", "digest", "--param", "pattern"},
                             {"submit", "digest", "--param", "=x"},
                             {"submit", "digest", "--param", "wait=1"},
                             {"submit", "digest", "--output", ""},
                             {"watch", "a", "b"},
                             {"retry"},
                             {"retry", "id", "--all"},
                             {"retry", "id", "--kind", "digest"},
                             {"retry", "--all", "--kind", ""},
                             {"delete"},
                             {"delete", "--all"},
                             {"delete", "id", "--state", "done"},
                             {"delete", "--all", "--state", "queued"},
                             {"priority", "id", "urgent"},
                             {"signal", "night"},
                             {"signal", "night", "priority"},
                             {"signal", "night", "abort", "background"},
                             {"list", "--state", "gone"},
                             {"health", "--retry-for", "-1s"},
                             {"health", "--token", "secret"}}));

}  // namespace
}  // namespace heistctl
