#include "scenarios/program/report.hpp"

#include <algorithm>
#include <exception>

#include "scenarios/cooperative/format.hpp"
#include "scenarios/cooperative/replay.hpp"
#include "scenarios/replay/broken_scenario.hpp"
#include "scenarios/replay/difference.hpp"

namespace heist::test {

using Json = nlohmann::json;

namespace {

std::string title_of(const Json& scenario) {
  const std::string title = scenario.value("title", scenario.value("note", ""));
  return title.empty() ? title : ": " + title;
}

}  // namespace

void Report::add(const ScenarioEntry& entry) {
  if (!entry.error.empty()) return reject(entry, entry.error);
  ++scenarios_;
  if (int* count = counted_instead(entry.scenario)) {
    ++*count;
    return;
  }
  try {
    judge(entry, failure_of(entry.scenario));
  } catch (const BrokenScenario& error) {
    reject(entry, error.what());
  }
}

/// The count of those that are not replayed so, when the scenario is one; else null. Cooperative
/// ones have a host of their own, with no other thread, and time.
int* Report::counted_instead(const Json& scenario) {
  const bool is_alone = is_cooperative(scenario);
  if (has_foreign_main() && (is_alone || !main_may_be_foreign(scenario))) return &left_out_;
  if (is_in_cluster() && (is_alone || depends_on_time(scenario))) return &not_applicable_;
  if (is_alone && has_impossible_priority(scenario)) return &skipped_;
  return nullptr;
}

bool Report::close() {
  if (has_foreign_main()) {
    out_ << scenarios_ - left_out_ << " of " << scenarios_
         << " scenarios are determined with main on a foreign thread\n";
  }
  if (allowed_failures_ > 0) out_ << allowed_failures_ << " allowed to fail\n";
  out_ << passed_ << " passed, " << failed_ << " failed";
  if (is_in_cluster()) {
    out_ << ", " << not_applicable_
         << " not applicable: they depend on time, which no cluster stops";
  }
  if (skipped_ > 0) {
    out_ << ", " << skipped_
         << " skipped: they schedule with priorities that CooperativePriority does not have";
  }
  out_ << std::endl;
  return failed_ == 0;
}

/// What is wrong, in whole lines; empty when the trace is as expected.
std::string Report::failure_of(const Json& scenario) const {
  if (is_cooperative(scenario)) return cooperative_failure_of(scenario);
  for (const ReplayOptions& way : ways_) {
    const std::string failure = failure_of(scenario, way);
    if (!failure.empty()) {
      return (way.stage == Stage::stealable ? "  through the scheduler of the cluster\n" : "") +
             failure;
    }
  }
  return {};
}

std::string Report::failure_of(const Json& scenario, const ReplayOptions& way) {
  try {
    return difference(scenario["trace"], replay(scenario, way));
  } catch (const BrokenScenario&) {
    throw;
  } catch (const std::exception& error) {
    return std::string("  ") + error.what() + "\n";
  }
}

/// The first level that fails.
std::string Report::cooperative_failure_of(const Json& scenario) try {
  const CooperativeTraces traces = replay_cooperative(scenario);
  const std::string main = difference(scenario["trace"], traces.main);
  if (!main.empty()) return main;
  const std::string host = difference(scenario["host"], traces.host);
  return host.empty() ? host : "  level 1 is right; the host trace:\n" + host;
} catch (const std::exception& error) {
  return std::string("  ") + error.what() + "\n";
}

bool Report::is_allowed(const Json& scenario) const {
  return std::ranges::any_of(scenario.value("sensitive", Json::array()), [this](const Json& kind) {
    return allowed_.contains(kind.get<std::string>());
  });
}

void Report::reject(const ScenarioEntry& entry, const std::string& error) {
  out_ << "FAILED " << entry.place << ": " << error << '\n';
  ++failed_;
}

void Report::judge(const ScenarioEntry& entry, const std::string& failure) {
  if (failure.empty()) {
    ++passed_;
    return;
  }
  const Json& scenario = entry.scenario;
  const bool allowed = is_allowed(scenario);
  ++(allowed ? allowed_failures_ : failed_);
  out_ << (allowed ? "ALLOWED " : "FAILED ") << scenario["id"].get<std::string>() << " ("
       << entry.place << ")" << title_of(scenario) << '\n';
  if (scenario.contains("sensitive")) out_ << "  sensitive: " << scenario["sensitive"] << '\n';
  out_ << failure;
}

}  // namespace heist::test
