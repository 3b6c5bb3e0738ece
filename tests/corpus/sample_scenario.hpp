// A scenario of the posttask corpus's format, made in a test.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heist::test {

/// With these signals and this main, in JSON, and an empty trace.
[[nodiscard]] inline nlohmann::json sample_scenario(const std::string& signals,
                                                    const std::string& main) {
  return {{"id", "x/y"},
          {"theme", "x"},
          {"title", "y"},
          {"origin", "hand"},
          {"signals", nlohmann::json::parse(signals)},
          {"main", nlohmann::json::parse(main)},
          {"trace", nlohmann::json::array()}};
}

}  // namespace heist::test
