// The names that the steps of a scenario use: each is made by something, of the kind that the step
// needs.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace heist::test {

/// What a scenario makes, at whatever depth. Whether it is made before it is used only shows when
/// it runs.
class References {
 public:
  /// Errors: std::invalid_argument for a name that is given twice, or names used by definitions.
  explicit References(const nlohmann::json& scenario);

  /// Errors: std::invalid_argument for a name that nothing has, or a signal of a wrong kind.
  void check_step(const nlohmann::json& step) const;

 private:
  void add_signal(const nlohmann::json& definition);
  void check_definition(const nlohmann::json& definition) const;
  void check_signal(const std::string& name, const std::set<std::string>& kinds) const;
  void check_task(const std::string& id) const;

  std::map<std::string, std::string> kinds_;  ///< of the signals, by name
  std::set<std::string> tasks_;
};

}  // namespace heist::test
