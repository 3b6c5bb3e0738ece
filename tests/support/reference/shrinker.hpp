// Makes a failing scenario small.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

namespace heist::reference {

/// Whether a scenario, with the model's trace as its `trace`, shows the failure.
using Fails = std::function<bool(const nlohmann::json&)>;

/// The scenario without any step, body, signal, source of a signal or optional member that is not needed for it to
/// stay sound (judge()) and fail, and with plain values; its `trace` is the model's.
///
/// Precondition: the scenario is sound and fails.
[[nodiscard]] nlohmann::json shrink(nlohmann::json scenario, const Fails& fails);

}  // namespace heist::reference
