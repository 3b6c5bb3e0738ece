// Rule: COOP-1 … COOP-5. Property: what the cooperative scheduler does with a scenario is what the
// reference model does with it, to each call of the host; and what its tasks do on an event loop,
// too. HEIST_PROPERTY_COUNT scenarios from seed HEIST_PROPERTY_SEED on; a failure prints the
// smallest scenario that still fails, as a line that heist_conformance reads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "scenarios/cooperative/format.hpp"
#include "scenarios/cooperative/replay.hpp"
#include "support/crash_note.hpp"
#include "support/environment.hpp"
#include "support/error_recorder.hpp"
#include "support/reference/cooperative/generator.hpp"
#include "support/reference/cooperative/model.hpp"
#include "support/reference/shrinker.hpp"

namespace heist::test {

using namespace detail;
namespace {

using Json = nlohmann::json;

const reference::Grammar& grammar() {
  static const reference::Grammar grammar{
      {"/steps"},
      {{"schedule", {"delay"}}},
      {{"start", 0}, {"delay", 1}, {"ms", 1}, {"units", 1}, {"priority", 3}, {"fps", 0}},
      reference::cooperative::judged};
  return grammar;
}

bool is_in_format(const Json& scenario) {
  try {
    check_cooperative_format(scenario);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

/// How scenarios are replayed.
struct Way {
  /// Makes one that it takes from any.
  Json (*made)(Json scenario);
  bool (*takes)(const Json& scenario);
  /// What replaying leads to, and what it should lead to by the model's traces.
  Json (*replay)(const Json& scenario);
  Json (*expected)(const Json& scenario);
};

Json both_traces(const Json& scenario) {
  const CooperativeTraces traces = replay_cooperative(scenario);
  return {{"trace", traces.main}, {"host", traces.host}};
}

Json both_expected(const Json& scenario) {
  return {{"trace", scenario["trace"]}, {"host", scenario["host"]}};
}

Json tasks_expected(const Json& scenario) { return what_tasks_did(scenario["trace"]); }

Json replayed(const Json& scenario, const Way& way) {
  try {
    return way.replay(scenario);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Fails with the smallest scenario that goes wrong.
void compare(const Json& scenario, const Way& way) {
  const auto fails = [&](const Json& tried) {
    return way.takes(tried) && replayed(tried, way) != way.expected(tried);
  };
  if (!fails(scenario)) return;
  const Json smallest = reference::shrink(scenario, grammar(), fails);
  ADD_FAILURE() << scenario["note"] << ", the smallest scenario with the model's traces:\n"
                << smallest << "\nthe library:\n"
                << replayed(smallest, way);
}

/// Compares the scenarios of the seeds.
void compare_all(const Way& way) {
  const auto first = from_environment("HEIST_PROPERTY_SEED", 1);
  const auto count = from_environment("HEIST_PROPERTY_COUNT", 4000);
  std::uint64_t compared = 0;
  for (auto seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    note_for_crashes("HEIST_PROPERTY_SEED=" + std::to_string(seed));
    const Json scenario = way.made(reference::cooperative::generate(seed));
    ASSERT_TRUE(way.takes(scenario)) << scenario;
    const auto judged = reference::cooperative::judged(scenario);
    if (!judged) continue;
    compare(*judged, way);
    ++compared;
  }
  std::cout << "seed " << first << ": " << compared << " of " << count << " scenarios compared\n";
  EXPECT_GE(compared, count * 9 / 10);
}

/// In whole milliseconds.
void round_up(Json& steps) {
  for (Json& step : steps) {
    for (const auto* member : {"ms", "delay"}) {
      if (step.contains(member)) step[member] = std::ceil(step[member].get<double>());
    }
    if (step.contains("body")) round_up(step["body"]);
  }
}

/// With nothing delivered before the end.
Json for_loops(Json scenario) {
  round_up(scenario["steps"]);
  Json steps = Json::array();
  for (Json& step : scenario["steps"]) {
    if (step["op"] == "advance") step["op"] = "block";
    const std::string op = step["op"];
    if (op != "flushHost" && op != "fireTimeouts" && op != "flushAll") steps.push_back(step);
  }
  steps.push_back({{"op", "flushAll"}});
  scenario["steps"] = std::move(steps);
  scenario["start"] = 0;
  return scenario;
}

TEST(CooperativeProperty, scheduler_when_it_runs_a_random_scenario_then_the_traces_of_the_model) {
  compare_all({.made = [](Json scenario) { return scenario; },
               .takes = is_in_format,
               .replay = both_traces,
               .expected = both_expected});
}

TEST(CooperativeProperty, scheduler_when_it_is_on_an_event_loop_then_its_tasks_do_as_in_the_model) {
  const support::ErrorRecorder errors;
  compare_all({.made = for_loops,
               .takes = [](const Json& s) { return is_in_format(s) && is_for_loops(s); },
               .replay = replay_cooperative_on_loop,
               .expected = tasks_expected});
}

}  // namespace
}  // namespace heist::test
