// The reference model: what the specification says a scenario of the posttask corpus does
// (tests/conformance/posttask/FORMAT.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heist::reference {

struct Verdict {
  nlohmann::json trace;
  /// Why the scenario proves nothing: it breaks a rule of the format, or another trace is as right.
  /// Empty: sound.
  std::string objection;

  [[nodiscard]] bool is_sound() const { return objection.empty(); }
};

/// Runs the scenario; whatever its `trace` is.
[[nodiscard]] Verdict judge(const nlohmann::json& scenario);

}  // namespace heist::reference
