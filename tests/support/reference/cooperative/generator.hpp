// Makes random scenarios in the format of the cooperative corpus
// (tests/conformance/cooperative/FORMAT.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace heist::reference::cooperative {

/// Returns the scenario of that seed, without its traces. Its tasks have the five priorities. A few
/// scenarios never end.
[[nodiscard]] nlohmann::json generate(std::uint64_t seed);

}  // namespace heist::reference::cooperative
