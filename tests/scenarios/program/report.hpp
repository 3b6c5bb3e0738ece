// Replays scenarios one by one, and says what becomes of them.
#pragma once

#include <ostream>
#include <set>
#include <string>

#include "scenarios/replay/replay.hpp"
#include "scenarios/replay/scenario_files.hpp"

namespace heist::test {

/// Writes what failed, and counts.
class Report {
 public:
  /// Failures of scenarios with an allowed kind in their `sensitive` are written, but not counted.
  Report(std::ostream& out, std::set<std::string> allowed, MainThread main_thread)
      : out_(out), allowed_(std::move(allowed)), options_{.main_thread = main_thread} {}

  /// Replays the entry's scenario. An entry that has none is a failure.
  void add(const ScenarioEntry& entry);
  /// Writes the closing line; true when nothing failed.
  [[nodiscard]] bool close();

 private:
  [[nodiscard]] std::string failure_of(const nlohmann::json& scenario) const;
  [[nodiscard]] bool is_allowed(const nlohmann::json& scenario) const;
  /// An entry that is no scenario, whatever is allowed.
  void reject(const ScenarioEntry& entry, const std::string& error);
  void judge(const ScenarioEntry& entry, const std::string& failure);

  std::ostream& out_;
  std::set<std::string> allowed_;
  ReplayOptions options_;
  int scenarios_ = 0;
  int left_out_ = 0;
  int allowed_failures_ = 0;
  int passed_ = 0;
  int failed_ = 0;
};

}  // namespace heist::test
