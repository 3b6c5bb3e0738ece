// Property: what the library does with a scenario is what the reference model does with it: on an
// event loop and, where no time is involved, in a cluster of one agent. HEIST_PROPERTY_COUNT
// scenarios from seed HEIST_PROPERTY_SEED on; a failure prints the smallest scenario that still
// fails, as a line that heist_conformance reads.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include "scenarios/replay/format.hpp"
#include "scenarios/replay/replay.hpp"
#include "support/crash_note.hpp"
#include "support/environment.hpp"
#include "support/reference/generator.hpp"
#include "support/reference/model.hpp"
#include "support/reference/shrinker.hpp"

namespace heist::test {
namespace {

using Json = nlohmann::json;

/// What replaying leads to: a trace, or what went wrong.
Json replayed(const Json& scenario, const ReplayOptions& options) {
  try {
    check_format(scenario);
    return replay(scenario, options);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Every seed has its way, so that the smallest scenario fails in the same one.
ReplayOptions options_for(std::uint64_t seed, const Json& scenario) {
  const bool is_foreign = seed % 8 == 0 && main_may_be_foreign(scenario);
  return {.main_thread = is_foreign ? MainThread::foreign : MainThread::loop,
          .yield_form = seed % 2 == 0 ? YieldForm::awaited : YieldForm::as_promise};
}

/// Through both schedulers of a cluster of one agent.
ReplayOptions options_in_cluster(std::uint64_t seed, const Json& scenario) {
  auto options = options_for(seed, scenario);
  options.stage = seed % 4 < 2 ? Stage::bound : Stage::stealable;
  return options;
}

bool is_determined(const Json& scenario, const ReplayOptions& options) {
  if (options.main_thread == MainThread::foreign && !main_may_be_foreign(scenario)) return false;
  return options.stage == Stage::event_loop || !depends_on_time(scenario);
}

/// Fails with the smallest scenario that goes wrong.
void compare(const Json& scenario, const ReplayOptions& options) {
  const bool is_foreign = options.main_thread == MainThread::foreign;
  const auto differs = [&](const Json& tried) {
    return is_determined(tried, options) && replayed(tried, options) != tried["trace"];
  };
  if (!differs(scenario)) return;
  const Json smallest = reference::shrink(scenario, differs);
  ADD_FAILURE() << scenario["title"] << (is_foreign ? ", main on a foreign thread" : "")
                << (options.stage == Stage::event_loop ? "" : ", in a cluster of one agent")
                << (options.yield_form == YieldForm::awaited ? "" : ", yields as promises")
                << ", the smallest scenario with the model's trace:\n"
                << smallest << "\nthe library:\n"
                << replayed(smallest, options);
}

/// Which part of the seeds: ctest runs the parts side by side.
class Property : public testing::TestWithParam<std::uint64_t> {};
constexpr std::uint64_t parts = 4;
INSTANTIATE_TEST_SUITE_P(Parts, Property, testing::Range<std::uint64_t>(0, parts));

TEST_P(Property, library_when_it_runs_a_random_scenario_then_the_trace_of_the_model) {
  const auto count = from_environment("HEIST_PROPERTY_COUNT", 8000);
  const auto start_of = [seed = from_environment("HEIST_PROPERTY_SEED", 1), count](auto part) {
    return seed + count * part / parts;
  };
  const auto first = start_of(GetParam());
  const auto end = start_of(GetParam() + 1);
  std::uint64_t compared = 0;
  std::uint64_t compared_in_cluster = 0;
  const auto start = std::chrono::steady_clock::now();
  for (auto seed = first; seed < end && !HasFailure(); ++seed) {
    note_for_crashes("HEIST_PROPERTY_SEED=" + std::to_string(seed));
    Json scenario = reference::generate(seed);
    const auto verdict = reference::judge(scenario);
    if (!verdict.is_sound()) continue;
    scenario["trace"] = verdict.trace;
    compare(scenario, options_for(seed, scenario));
    if (!depends_on_time(scenario)) {
      compare(scenario, options_in_cluster(seed, scenario));
      ++compared_in_cluster;
    }
    ++compared;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::cout << "seed " << first << ": " << compared << " of " << end - first
            << " scenarios compared, " << compared_in_cluster << " of them in a cluster, too, "
            << static_cast<double>(compared) / taken.count() << " a second\n";
  EXPECT_TRUE(compared > 0 || first == end);
}

}  // namespace
}  // namespace heist::test
