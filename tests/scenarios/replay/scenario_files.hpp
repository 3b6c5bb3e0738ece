// Reading files of scenarios: one JSON object a line. Its members say which corpus's format it is
// in.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heist::test {

/// A line of a file, or a path: a scenario in the right format of the two, or why there is none.
struct ScenarioEntry {
  std::string place;  ///< FILE:LINE, or the path
  nlohmann::json scenario;
  std::string error;  ///< empty when there is a scenario
};

/// The scenarios of a file, or of all `*.ndjson` files of a folder in the order of their names. A
/// path that is missing, a folder without such files and a file without scenarios are entries with
/// errors.
[[nodiscard]] std::vector<ScenarioEntry> read_scenarios(const std::filesystem::path& path);

}  // namespace heist::test
