// Replays scenarios one by one, and says what becomes of them.
#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "scenarios/replay/replay.hpp"
#include "scenarios/replay/scenario_files.hpp"

namespace heist::test {

/// Writes what failed, and counts.
class Report {
 public:
  /// Failures of scenarios with an allowed kind in their `sensitive` are written, but not counted.
  ///
  /// Precondition: the ways differ in their schedulers at most.
  Report(std::ostream& out, std::set<std::string> allowed, std::vector<ReplayOptions> ways)
      : out_(out), allowed_(std::move(allowed)), ways_(std::move(ways)) {}

  /// Replays the entry's scenario, in all ways. An entry that has none is a failure.
  void add(const ScenarioEntry& entry);
  /// Writes the closing line; true when nothing failed.
  [[nodiscard]] bool close();

 private:
  [[nodiscard]] bool has_foreign_main() const {
    return ways_.front().main_thread == MainThread::foreign;
  }
  [[nodiscard]] bool is_in_cluster() const { return ways_.front().stage != Stage::event_loop; }
  [[nodiscard]] int* counted_instead(const nlohmann::json& scenario);
  [[nodiscard]] std::string failure_of(const nlohmann::json& scenario) const;
  [[nodiscard]] static std::string failure_of(const nlohmann::json& scenario,
                                              const ReplayOptions& way);
  [[nodiscard]] static std::string cooperative_failure_of(const nlohmann::json& scenario);
  [[nodiscard]] bool is_allowed(const nlohmann::json& scenario) const;
  /// An entry that is no scenario, whatever is allowed.
  void reject(const ScenarioEntry& entry, const std::string& error);
  void judge(const ScenarioEntry& entry, const std::string& failure);

  std::ostream& out_;
  std::set<std::string> allowed_;
  std::vector<ReplayOptions> ways_;
  int scenarios_ = 0;
  int left_out_ = 0;
  int not_applicable_ = 0;
  int skipped_ = 0;
  int allowed_failures_ = 0;
  int passed_ = 0;
  int failed_ = 0;
};

}  // namespace heist::test
