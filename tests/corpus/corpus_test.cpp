// The conformance corpora are part of the repository: a missing or cut file is a failure.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace {

struct Corpus {
  const char* folder;
  std::set<std::string> themes;
  int scenarios;  ///< at the least: lines that a cut file has lost are missed
};

class Corpora : public testing::TestWithParam<Corpus> {};

TEST_P(Corpora, files_when_read_then_every_theme_is_there_and_every_line_is_a_scenario) {
  const auto folder = std::filesystem::path(HEIST_CONFORMANCE_DIR) / GetParam().folder;
  ASSERT_TRUE(std::filesystem::exists(folder / "FORMAT.md"));
  int all = 0;
  for (const auto& theme : GetParam().themes) {
    std::ifstream file(folder / (theme + ".ndjson"));
    ASSERT_TRUE(file) << theme;
    int scenarios = 0;
    for (std::string line; std::getline(file, line); ++scenarios) {
      const auto scenario = nlohmann::json::parse(line);  // throws where it is cut
      EXPECT_EQ(scenario.at("theme"), theme) << "line " << scenarios + 1;
      EXPECT_FALSE(scenario.at("trace").empty()) << "line " << scenarios + 1;
    }
    EXPECT_GT(scenarios, 0) << theme;
    all += scenarios;
  }
  EXPECT_GE(all, GetParam().scenarios);
}

INSTANTIATE_TEST_SUITE_P(
    Folders, Corpora,
    testing::Values(Corpus{"posttask",
                           {"abort", "any", "delay", "dynamic", "events", "mixed", "nesting",
                            "priorities", "timers", "yield"},
                           171},
                    Corpus{"cooperative",
                           {"cont",         "host",          "oddprio",      "order",
                            "paint",        "random-cancel", "random-cont",  "random-expiry",
                            "random-host",  "random-mixed",  "random-order", "random-paint",
                            "random-throw", "random-timer",  "random-work",  "random-wrap",
                            "react",        "slice",         "throw",        "timer",
                            "wrap"},
                           139}),
    [](const auto& instance) { return std::string(instance.param.folder); });

}  // namespace
