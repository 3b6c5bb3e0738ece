// Replays a scenario of the cooperative corpus (tests/conformance/cooperative/FORMAT.md) with the
// library.
#pragma once

#include <nlohmann/json.hpp>

namespace heist::test {

struct CooperativeTraces {
  nlohmann::json main;  ///< level 1: what a user sees
  nlohmann::json host;  ///< level 2: what the host is asked
};

/// What the scenario leaves.
///
/// Errors: std::runtime_error when it does not end.
/// Precondition: check_cooperative_format() takes it, and it has no impossible priority.
[[nodiscard]] CooperativeTraces replay_cooperative(const nlohmann::json& scenario);

// On an event loop with a virtual clock, whose messages and timeouts are its own.

/// Whether an event loop can do what its host does: the steps run at the time zero, in one task,
/// and then all is delivered; times are whole milliseconds, as those of a loop's timers.
[[nodiscard]] bool is_for_loops(const nlohmann::json& scenario);

/// The events of tasks that the scenario leaves (what_tasks_did()). What callbacks throw goes to
/// the error hook.
///
/// Errors: std::runtime_error when tasks are left.   Precondition: is_for_loops(), and as of
///         replay_cooperative().
[[nodiscard]] nlohmann::json replay_cooperative_on_loop(const nlohmann::json& scenario);

/// A main trace without the events that tell how calls of the host ended.
[[nodiscard]] nlohmann::json what_tasks_did(const nlohmann::json& trace);

}  // namespace heist::test
