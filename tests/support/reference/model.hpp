// The reference model does with a scenario of the posttask corpus what the specification says
// (tests/conformance/posttask/FORMAT.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heist::reference {

struct Verdict {
  nlohmann::json trace;
  /// Why the scenario proves nothing: it breaks a rule of the format, or another trace is as right.
  /// It is empty when the scenario is sound.
  std::string objection;

  [[nodiscard]] bool is_sound() const { return objection.empty(); }
};

/// Runs the scenario. It does not look at the scenario's own `trace`.
[[nodiscard]] Verdict judge(const nlohmann::json& scenario);

}  // namespace heist::reference
