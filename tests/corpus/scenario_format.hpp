// What a scenario of the posttask corpus may hold (tests/conformance/posttask/FORMAT.md).
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace heist::test {

using Json = nlohmann::json;

/// Whether the body of a step is asynchronous (FORMAT.md 5), and whether one step waits.
[[nodiscard]] bool waits(const Json& step);
[[nodiscard]] bool is_asynchronous(const Json& step);
/// The steps of a step's body; none when it has no body.
[[nodiscard]] const Json& body_of(const Json& step);

/// Refuses steps, kinds of signals and members that FORMAT.md does not have, or that are missing: an
/// interpreter that passes over what it does not know proves nothing.
///
/// Errors: std::invalid_argument, nlohmann::json::exception.
void check_format(const Json& scenario);

/// The parts of the API that the scenario uses, at whatever depth, and the library does not have:
/// `yield`, signals that follow others, signals that follow the clock. None: it can be replayed.
[[nodiscard]] std::set<std::string> missing_for(const Json& scenario);

}  // namespace heist::test
