// Makes a failing scenario small, so that its failure is easy to understand.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heist::reference {

/// What the shrinker has to know of a format.
struct Grammar {
  /// The places of the lists of a scenario, from which each element may be left out.
  std::vector<std::string> lists;
  /// The members that an object may go without, by its `kind` or `op`.
  std::map<std::string, std::vector<std::string>> optional_members;
  /// The value by which that of a member may be replaced. When all have the same value, steps that
  /// change it are not needed.
  std::vector<std::pair<std::string, nlohmann::json>> plain_values;
  /// Returns the scenario with the model's traces, or nothing when it proves nothing.
  std::function<std::optional<nlohmann::json>(nlohmann::json)> judged;
};

/// Whether a scenario, with the model's traces, shows the failure.
using Fails = std::function<bool(const nlohmann::json&)>;

/// Returns a smaller scenario that still can be judged and fails. It has no element of a list, no
/// body and no optional member that could be left out, and plain values where they will do. Its
/// traces are the model's.
///
/// Precondition: `scenario` can be judged, and fails.
[[nodiscard]] nlohmann::json shrink(nlohmann::json scenario, const Grammar& grammar,
                                    const Fails& fails);
/// Makes a scenario of the posttask corpus small.
[[nodiscard]] nlohmann::json shrink(nlohmann::json scenario, const Fails& fails);

}  // namespace heist::reference
