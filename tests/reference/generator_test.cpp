// The generator of random scenarios: the reference model finds most of them sound, and all of the
// format occurs in them.
#include "support/reference/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/reference/features.hpp"
#include "support/reference/model.hpp"

namespace heist::reference {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t seeds = 4000;

/// The sound scenarios of the first seeds, with their traces.
const std::vector<Json>& sound_scenarios() {
  static const auto all = [] {
    std::vector<Json> scenarios;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Json scenario = generate(seed);
      const Verdict verdict = judge(scenario);
      if (!verdict.is_sound()) continue;
      scenario["trace"] = verdict.trace;
      scenarios.push_back(std::move(scenario));
    }
    return scenarios;
  }();
  return all;
}

Features features_of_all() {
  Features features;
  for (const Json& scenario : sound_scenarios()) count_features(scenario, features);
  return features;
}

TEST(Generator, scenario_when_the_seed_is_the_same_then_the_same) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) EXPECT_EQ(generate(seed), generate(seed));
  EXPECT_NE(generate(1)["main"], generate(2)["main"]);
}

TEST(Generator, scenarios_when_judged_then_most_are_sound) {
  std::map<std::string, int> objections;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) ++objections[judge(generate(seed)).objection];
  for (const auto& [objection, count] : objections) {
    std::cout << count << " " << (objection.empty() ? "sound" : objection) << "\n";
  }
  EXPECT_GE(objections[""], seeds * 2 / 3);
}

TEST(Generator, scenarios_when_sound_then_every_feature_of_the_format_occurs) {
  const Features features = features_of_all();
  for (const auto& [name, count] : features) std::cout << name << " " << count << "\n";
  std::set<std::string> names;
  for (const auto& [name, count] : features) {
    if (count >= 10) names.insert(name);
  }
  const std::set<std::string> expected{
      // Steps and their optional members.
      "post", "post.priority", "post.signal", "post.delay", "post.body", "post.returns",
      "post.returns of another", "post.throws", "post.async", "abort", "abort.reason",
      "setPriority", "yield", "yield.catch", "await", "await.rethrow", "then", "then.body", "call",
      "call.wait", "call.catch", "microtask", "microtask.body", "timer", "timer.body", "listen",
      "listen.label", "listen.once", "listen.body", "read", "throwIfAborted",
      "throwIfAborted.catch", "log", "spin",
      // Signals, made at the start and later.
      "kind task", "kind task.priority", "kind abort", "kind aborted", "kind aborted.reason",
      "kind timeout", "kind abort-any", "kind task-any", "kind task-any.priority",
      "kind task-any.priority of another", "create task", "create abort", "create aborted",
      "create timeout", "create abort-any", "create task-any",
      "create task-any.priority of another",
      // Events.
      "event run", "event resolved", "event rejected", "event resume", "event caught",
      "event awaited", "event then", "event failed", "event microtask", "event timer",
      "event abort", "event prioritychange", "event read", "event threw", "event log"};
  std::vector<std::string> missing;
  std::ranges::set_difference(expected, names, std::back_inserter(missing));
  EXPECT_EQ(missing, std::vector<std::string>{});
}

TEST(Generator, posts_when_the_scenario_is_sound_then_each_that_is_reached_settles_once) {
  for (const Json& scenario : sound_scenarios()) {
    std::map<std::string, int> settled;
    for (const Json& event : scenario["trace"]) {
      if (event[0] == "resolved" || event[0] == "rejected") ++settled[event[1]];
    }
    for (const Json& event : scenario["trace"]) {
      if (event[0] != "run") continue;
      EXPECT_EQ(settled[event[1]], 1) << scenario;
    }
    for (const auto& [id, times] : settled) EXPECT_EQ(times, 1) << id << scenario;
  }
}

TEST(Model, scenario_when_judged_twice_then_the_same_trace) {
  for (const Json& scenario : sound_scenarios()) {
    EXPECT_EQ(judge(scenario).trace, scenario["trace"]) << scenario;
  }
}

}  // namespace
}  // namespace heist::reference
