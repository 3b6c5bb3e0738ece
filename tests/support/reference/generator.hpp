// Random scenarios of the posttask corpus's format (tests/conformance/posttask/FORMAT.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace heist::reference {

/// The scenario of that seed, without its trace. It names only tasks and signals that are there
/// when the step runs; what else the format rules out (races, tasks that wait for themselves) is
/// for judge() to find.
[[nodiscard]] nlohmann::json generate(std::uint64_t seed);

}  // namespace heist::reference
