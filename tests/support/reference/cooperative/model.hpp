// The cooperative reference model: what FORMAT.md (tests/conformance/cooperative) says a scenario
// does.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace heist::reference::cooperative {

/// The scenario with the traces that it must leave, as its `trace` and `host`; nothing when it does
/// not end soon.
///
/// Precondition: it is in the format; priorities may be any whole numbers.
[[nodiscard]] std::optional<nlohmann::json> judged(nlohmann::json scenario);

}  // namespace heist::reference::cooperative
