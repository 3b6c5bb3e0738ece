// Rule: all that the posttask corpus shows. The reference model is worth comparing with only if it has every trace right.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/reference/model.hpp"

namespace {

using nlohmann::json;

TEST(ReferenceModel, scenario_when_of_the_corpus_then_its_trace) {
  int scenarios = 0;
  const auto folder = std::filesystem::path(HEIST_CONFORMANCE_DIR) / "posttask";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ndjson") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++scenarios) {
      const json scenario = json::parse(line);
      const auto verdict = heist::reference::judge(scenario);
      EXPECT_EQ(verdict.trace, scenario["trace"]) << scenario["id"];
      EXPECT_EQ(verdict.objection, "") << scenario["id"];
    }
  }
  EXPECT_GE(scenarios, 171);
}

}  // namespace
