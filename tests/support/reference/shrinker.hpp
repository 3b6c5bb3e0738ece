// Makes a failing scenario small.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heist::reference {

/// What a format's scenarios are made of.
struct Grammar {
  /// Where a scenario has lists, of which each element may be left out.
  std::vector<std::string> lists;
  /// By the `kind` of an object, or its `op`.
  std::map<std::string, std::vector<std::string>> optional_members;
  /// What a member may be replaced by: with one value for all, fewer steps are needed that change
  /// from one to another.
  std::vector<std::pair<std::string, nlohmann::json>> plain_values;
  /// The scenario with the model's traces; nothing when it proves nothing.
  std::function<std::optional<nlohmann::json>(nlohmann::json)> judged;
};

/// Whether a scenario, with the model's traces, shows the failure.
using Fails = std::function<bool(const nlohmann::json&)>;

/// The scenario without any element of a list, body or optional member that is not needed for it to
/// be judged and fail, and with plain values; its traces are the model's.
///
/// Precondition: it is judged, and fails.
[[nodiscard]] nlohmann::json shrink(nlohmann::json scenario, const Grammar& grammar,
                                    const Fails& fails);
/// Of the posttask corpus.
[[nodiscard]] nlohmann::json shrink(nlohmann::json scenario, const Fails& fails);

}  // namespace heist::reference
