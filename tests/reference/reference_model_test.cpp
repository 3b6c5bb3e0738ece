// Rule: all that the posttask corpus shows. A comparison with the reference model proves something
// only if the model has every trace of the corpus right.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/reference/model.hpp"

namespace {

using nlohmann::json;

/// Returns how many scenarios there are in the folder.
int expect_the_traces_of(const std::filesystem::path& folder) {
  int scenarios = 0;
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
  return scenarios;
}

TEST(ReferenceModel, scenario_when_of_the_corpus_then_its_trace) {
  const std::filesystem::path corpora = HEIST_CONFORMANCE_DIR;
  EXPECT_GE(expect_the_traces_of(corpora / "posttask"), 171);
  EXPECT_GE(expect_the_traces_of(corpora.parent_path() / "scenarios" / "extra"), 1);
}

}  // namespace
