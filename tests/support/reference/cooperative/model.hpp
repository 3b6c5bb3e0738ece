// The cooperative reference model does with a scenario what its format says
// (tests/conformance/cooperative/FORMAT.md).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace heist::reference::cooperative {

/// Returns the scenario with the traces that it must leave, as its `trace` and `host`. Returns
/// nothing when it does not end soon.
///
/// Precondition: it is in the format. Priorities may be any whole numbers.
[[nodiscard]] std::optional<nlohmann::json> judged(nlohmann::json scenario);

}  // namespace heist::reference::cooperative
