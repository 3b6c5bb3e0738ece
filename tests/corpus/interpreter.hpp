// Replays a scenario of the posttask corpus (tests/conformance/posttask/FORMAT.md) with the library.
#pragma once

#include <nlohmann/json.hpp>

namespace heist::test {

/// The trace that the scenario leaves, on an event loop with a virtual clock. Promises, microtasks,
/// queues and timers are the library's; the interpreter has none of its own.
///
/// Errors: as check_format(); std::runtime_error when something is left over at the end.
/// Precondition: missing_for() names nothing.
[[nodiscard]] nlohmann::json replay(const nlohmann::json& scenario);

}  // namespace heist::test
