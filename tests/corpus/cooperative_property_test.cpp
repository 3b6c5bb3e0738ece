// Rule: COOP-1 … COOP-5. Property: what the cooperative scheduler does with a scenario is what the reference model does with
// it, to each call of the host.
// HEIST_PROPERTY_COUNT scenarios from seed HEIST_PROPERTY_SEED on; a failure prints the smallest scenario that still
// fails, as a line that heist_conformance reads.
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "scenarios/cooperative/format.hpp"
#include "scenarios/cooperative/replay.hpp"
#include "support/crash_note.hpp"
#include "support/environment.hpp"
#include "support/reference/cooperative/generator.hpp"
#include "support/reference/cooperative/model.hpp"
#include "support/reference/shrinker.hpp"

namespace heist::test {
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

/// What replaying leads to: the traces, or what went wrong.
Json replayed(const Json& scenario) {
  try {
    const CooperativeTraces traces = replay_cooperative(scenario);
    return {{"trace", traces.main}, {"host", traces.host}};
  } catch (const std::exception& error) {
    return error.what();
  }
}

bool differs(const Json& scenario) {
  return replayed(scenario) != Json{{"trace", scenario["trace"]}, {"host", scenario["host"]}};
}

/// Fails with the smallest scenario that goes wrong.
void compare(const Json& scenario) {
  if (!differs(scenario)) return;
  const auto fails = [](const Json& tried) { return is_in_format(tried) && differs(tried); };
  const Json smallest = reference::shrink(scenario, grammar(), fails);
  ADD_FAILURE() << scenario["note"] << ", the smallest scenario with the model's traces:\n"
                << smallest << "\nthe library:\n"
                << replayed(smallest);
}

TEST(CooperativeProperty, scheduler_when_it_runs_a_random_scenario_then_the_traces_of_the_model) {
  const auto first = from_environment("HEIST_PROPERTY_SEED", 1);
  const auto count = from_environment("HEIST_PROPERTY_COUNT", 4000);
  std::uint64_t compared = 0;
  for (auto seed = first; seed < first + count && !HasFailure(); ++seed) {
    note_for_crashes("HEIST_PROPERTY_SEED=" + std::to_string(seed));
    const Json scenario = reference::cooperative::generate(seed);
    ASSERT_NO_THROW(check_cooperative_format(scenario)) << scenario;
    const auto judged = reference::cooperative::judged(scenario);
    if (!judged) continue;
    compare(*judged);
    ++compared;
  }
  std::cout << "seed " << first << ": " << compared << " of " << count << " scenarios compared\n";
  EXPECT_GE(compared, count * 9 / 10);
}

}  // namespace
}  // namespace heist::test
