// Rule: all that the cooperative corpus shows. A comparison with the reference model proves
// something only if the model has every trace of the corpus right. Random scenarios prove something
// only if everything happens in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "support/reference/cooperative/generator.hpp"
#include "support/reference/cooperative/model.hpp"
#include "support/reference/features.hpp"

namespace heist::reference::cooperative {

namespace {

using Json = nlohmann::json;

void count_events(const std::string& of, const Json& trace, Features& features) {
  for (const Json& event : trace) {
    const std::string kind = event[0];
    ++features[of + " " + kind];
    if (kind == "run" && event[2] == true) ++features["late run"];
    if (kind == "continue" && event[3] == true) ++features["late continue"];
    if (kind == "shouldYield" && event[1] == true) ++features["over"];
  }
}

/// Returns how many scenarios there are in the folder.
int expect_the_traces_of(const std::filesystem::path& folder) {
  int scenarios = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ndjson") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++scenarios) {
      const Json scenario = Json::parse(line);
      const Json verdict = judged(scenario).value();
      EXPECT_EQ(verdict["trace"], scenario["trace"]) << scenario["id"];
      EXPECT_EQ(verdict["host"], scenario["host"]) << scenario["id"];
    }
  }
  return scenarios;
}

TEST(CooperativeModel, scenario_when_of_the_corpus_then_its_traces) {
  const std::filesystem::path corpora = HEIST_CONFORMANCE_DIR;
  EXPECT_GE(expect_the_traces_of(corpora / "cooperative"), 139);
  EXPECT_GE(expect_the_traces_of(corpora.parent_path() / "scenarios/extra/cooperative"), 6);
}

TEST(CooperativeModel, scenario_when_it_never_ends_then_not_judged) {
  const Json again{{"op", "callWrapped"}, {"id", "w"}};
  const Json task{{"op", "schedule"}, {"id", "t"}, {"priority", 3}, {"body", Json::array({again})}};
  const Json wrap{{"op", "wrap"}, {"id", "w"}, {"body", Json::array({task})}};
  const Json flush{{"op", "flushAll"}};
  Json scenario{{"start", 0}, {"steps", Json::array({wrap, again, flush})}};
  EXPECT_FALSE(judged(scenario).has_value());
  scenario["steps"].erase(2);
  EXPECT_TRUE(judged(scenario).has_value());
}

TEST(CooperativeGenerator, scenario_when_the_seed_is_the_same_then_the_same) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) EXPECT_EQ(generate(seed), generate(seed));
  EXPECT_NE(generate(1)["steps"], generate(2)["steps"]);
}

TEST(CooperativeGenerator, scenarios_when_judged_then_every_step_and_event_occurs) {
  Features features;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const auto scenario = judged(generate(seed));
    if (!scenario) continue;
    count_events("trace", scenario->at("trace"), features);
    count_events("host", scenario->at("host"), features);
  }
  std::set<std::string> names;
  for (const auto& [name, count] : features) {
    std::cout << name << " " << count << "\n";
    if (count >= 100) names.insert(name);
  }
  const std::set<std::string> expected{"trace run",
                                       "trace continue",
                                       "trace work",
                                       "trace yielded",
                                       "trace idle",
                                       "trace threw",
                                       "trace caught",
                                       "trace log",
                                       "trace now",
                                       "trace priority",
                                       "trace nomessage",
                                       "trace shouldYield",
                                       "trace badFrameRate",
                                       "trace end",
                                       "host post",
                                       "host setTimeout",
                                       "host clearTimeout",
                                       "host message",
                                       "host fire",
                                       "host end",
                                       "late run",
                                       "late continue",
                                       "over"};
  EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace heist::reference::cooperative
