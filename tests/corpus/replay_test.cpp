// Rule: ORD-2…4, PRI-1…4, PRI-6, PRI-7, ABT-1…3, ABT-6, PRO-1, DLY-2, DLY-4, YLD-4, as the posttask corpus
// has them: every scenario that uses nothing the library does not have, event for event.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "corpus/interpreter.hpp"
#include "corpus/scenario_format.hpp"

namespace heist {
namespace {

using test::Json;

std::filesystem::path corpus() { return std::filesystem::path(HEIST_CONFORMANCE_DIR) / "posttask"; }

/// Names of the files; throws when the corpus is missing.
std::vector<std::string> themes() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(corpus())) {
    if (entry.path().extension() == ".ndjson") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<Json> scenarios_of(const std::string& theme) {
  std::ifstream file(corpus() / (theme + ".ndjson"));
  std::vector<Json> scenarios;
  for (std::string line; std::getline(file, line);) scenarios.push_back(Json::parse(line));
  return scenarios;
}

/// The event at a place of a trace.
std::string event_at(const Json& trace, std::size_t place) {
  return place < trace.size() ? trace[place].dump() : "(end)";
}

/// Fails with the first difference, side by side.
void expect_same(const Json& scenario, const Json& trace) {
  const Json& expected = scenario["trace"];
  if (trace == expected) return;
  std::size_t place = 0;
  while (event_at(trace, place) == event_at(expected, place)) ++place;
  ADD_FAILURE() << scenario["id"] << ", event " << place << ": expected "
                << event_at(expected, place) << ", was " << event_at(trace, place)
                << (scenario.contains("sensitive") ? "; sensitive: " : "")
                << scenario.value("sensitive", Json("")) << "\nwhole trace: " << trace;
}

class Replay : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Themes, Replay, testing::ValuesIn(themes()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST_P(Replay, scenarios_when_the_library_has_all_they_use_then_the_trace_of_the_corpus) {
  int replayed = 0;
  for (const Json& scenario : scenarios_of(GetParam())) {
    test::check_format(scenario);
    if (!test::missing_for(scenario).empty()) continue;
    ++replayed;
    expect_same(scenario, test::replay(scenario));
  }
  std::cout << replayed << " scenarios replayed\n";
  if (replayed == 0) GTEST_SKIP() << "all of them use what the library does not have";
}

// So that they are counted in every run: a theme with such scenarios is a skipped test.
TEST_P(Replay, scenarios_when_the_library_lacks_what_they_use_then_left_out) {
  int left_out = 0;
  std::map<std::string, int> reasons;
  for (const Json& scenario : scenarios_of(GetParam())) {
    const auto missing = test::missing_for(scenario);
    left_out += missing.empty() ? 0 : 1;
    for (const auto& name : missing) ++reasons[name];
  }
  std::string text;
  for (const auto& [name, count] : reasons) text += ", " + name + " in " + std::to_string(count);
  if (left_out > 0) GTEST_SKIP() << left_out << " scenarios left out: they use" << text.substr(1);
}

}  // namespace
}  // namespace heist
