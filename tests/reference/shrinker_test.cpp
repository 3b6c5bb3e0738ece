// The shrinker leaves what a failure needs, and nothing else.
#include "support/reference/shrinker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/reference/features.hpp"
#include "support/reference/generator.hpp"
#include "support/reference/model.hpp"

namespace heist::reference {
namespace {

using Json = nlohmann::json;

bool has_event(const Json& scenario, const std::string& name) {
  return std::ranges::any_of(scenario["trace"], [&](const Json& e) { return e[0] == name; });
}

/// The first sound scenario for which the predicate holds.
Json first_that(const Fails& fails) {
  for (std::uint64_t seed = 1;; ++seed) {
    Json scenario = generate(seed);
    const Verdict verdict = judge(scenario);
    scenario["trace"] = verdict.trace;
    if (verdict.is_sound() && fails(scenario)) return scenario;
  }
}

Json shrunk(const Fails& fails) { return shrink(first_that(fails), fails); }

TEST(Shrinker, scenario_when_everything_fails_then_nothing_is_left) {
  const Json scenario = shrunk([](const Json&) { return true; });
  EXPECT_EQ(scenario["main"], Json::array());
  EXPECT_EQ(scenario["signals"], Json::array());
  EXPECT_EQ(scenario["trace"], Json::array());
}

TEST(Shrinker, scenario_when_one_event_is_the_failure_then_only_its_causes_are_left) {
  const Json scenario = shrunk([](const Json& s) { return has_event(s, "prioritychange"); });
  Features features;
  count_features(scenario, features);
  EXPECT_EQ(features["listen"], 1) << scenario;
  EXPECT_EQ(features["setPriority"], 1) << scenario;
  EXPECT_EQ(features["event prioritychange"], 1) << scenario;
  EXPECT_LE(features["post"], 1) << "to be later than the listener: " << scenario;
  EXPECT_EQ(scenario["signals"].size(), 1) << scenario;
}

TEST(Shrinker, scenario_when_the_failure_is_deep_then_the_bodies_around_it_go) {
  const Json scenario = shrunk([](const Json& s) { return has_event(s, "resume"); });
  EXPECT_EQ(scenario["main"], Json::array({{{"op", "yield"}}})) << scenario;
}

TEST(Shrinker, scenario_when_a_signal_of_another_is_needed_then_it_stays) {
  const auto fails = [](const Json& s) {
    Features features;
    count_features(s, features);
    return features["kind abort-any.of"] > 0 && features["event abort"] >= 2;
  };
  const Json scenario = shrunk(fails);
  EXPECT_TRUE(judge(scenario).is_sound());
  EXPECT_TRUE(fails(scenario)) << scenario;
  EXPECT_LE(scenario["main"].size(), 4) << scenario;
}

}  // namespace
}  // namespace heist::reference
