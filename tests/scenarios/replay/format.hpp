// Whether a JSON object is a scenario (tests/conformance/posttask/FORMAT.md).
#pragma once

#include <nlohmann/json.hpp>

namespace heist::test {

/// Refuses what FORMAT.md does not have: unknown or missing members, steps and kinds of signals,
/// values of a wrong type, names of signals and tasks that nothing makes. An interpreter that
/// passes over what it does not know proves nothing.
///
/// Errors: std::invalid_argument that says what is wrong, and where in the scenario.
void check_format(const nlohmann::json& scenario);

}  // namespace heist::test
