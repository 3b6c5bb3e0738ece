// Whether a JSON object is a scenario of the cooperative corpus
// (tests/conformance/cooperative/FORMAT.md).
#pragma once

#include <nlohmann/json.hpp>

namespace heist::test {

/// Whether that is what it is meant to be: it has members that only such scenarios have.
[[nodiscard]] bool is_cooperative(const nlohmann::json& scenario);

/// Refuses what FORMAT.md does not have: unknown or missing members and steps, values of a wrong
/// type, steps in the wrong place.
///
/// Errors: std::invalid_argument that says what is wrong, and where in the scenario.
void check_cooperative_format(const nlohmann::json& scenario);

/// Whether it schedules a task with a priority outside of 1..5, which CooperativePriority makes
/// impossible.
///
/// Precondition: check_cooperative_format() takes it.
[[nodiscard]] bool has_impossible_priority(const nlohmann::json& scenario);

}  // namespace heist::test
