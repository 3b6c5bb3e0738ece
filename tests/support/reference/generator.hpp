// Makes random scenarios in the format of the posttask corpus
// (tests/conformance/posttask/FORMAT.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace heist::reference {

/// Returns the scenario of that seed, without its trace. Each step names only tasks and signals
/// that are there when it runs. What else the format rules out, such as races and tasks that wait
/// for themselves, judge() finds.
[[nodiscard]] nlohmann::json generate(std::uint64_t seed);

}  // namespace heist::reference
