// Checks the names in a scenario, also in steps that are never reached.
#pragma once

#include <nlohmann/json.hpp>

namespace heist::reference {

/// Whether the scenario makes each signal and each task that it names.
[[nodiscard]] bool names_what_it_has(const nlohmann::json& scenario);

}  // namespace heist::reference
