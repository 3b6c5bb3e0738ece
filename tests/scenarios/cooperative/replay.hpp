// Replays a scenario of the cooperative corpus (tests/conformance/cooperative/FORMAT.md) with the library.
#pragma once

#include <nlohmann/json.hpp>

namespace heist::test {

struct CooperativeTraces {
  nlohmann::json main;  ///< level 1: what a user sees
  nlohmann::json host;  ///< level 2: what the host is asked
};

/// What the scenario leaves.
///
/// Errors: std::runtime_error when it does not end.
/// Precondition: check_cooperative_format() takes it, and it has no impossible priority.
[[nodiscard]] CooperativeTraces replay_cooperative(const nlohmann::json& scenario);

}  // namespace heist::test
