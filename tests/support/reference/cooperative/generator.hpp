// Random scenarios of the cooperative corpus's format (tests/conformance/cooperative/FORMAT.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace heist::reference::cooperative {

/// The scenario of that seed, without its traces. Tasks are scheduled at the five priorities;
/// seldom it does not end.
[[nodiscard]] nlohmann::json generate(std::uint64_t seed);

}  // namespace heist::reference::cooperative
