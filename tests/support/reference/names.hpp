// The names in a scenario, whether its steps are ever reached or not.
#pragma once

#include <nlohmann/json.hpp>

namespace heist::reference {

/// Whether something in the scenario makes each signal and each task that something in it names.
[[nodiscard]] bool names_what_it_has(const nlohmann::json& scenario);

}  // namespace heist::reference
