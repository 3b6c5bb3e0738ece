// Replays a scenario of the posttask corpus (tests/conformance/posttask/FORMAT.md) with the
// library.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace heist::test {

/// What runs the scenario's tasks.
enum class Stage : std::uint8_t {
  event_loop,  ///< a loop with a virtual clock
  /// The first agent of a cluster. In a larger one all agents have stealable tasks to run
  /// meanwhile.
  bound,
  stealable,  ///< a cluster of one agent, through the scheduler of the cluster
};

/// Where the steps of `main` run.
enum class MainThread : std::uint8_t {
  loop,     ///< in a plain task of the loop, as FORMAT.md has it
  foreign,  ///< on a thread that is no agent, while a task holds the loop
};

/// How bodies wait for a yield: its two forms take different ways through the library.
enum class YieldForm : std::uint8_t { awaited, as_promise };

struct ReplayOptions {
  Stage stage = Stage::event_loop;
  unsigned agents = 1;  ///< of the cluster, for Stage::bound
  MainThread main_thread = MainThread::loop;
  YieldForm yield_form = YieldForm::awaited;
};

/// The trace that the scenario leaves.
///
/// Errors: BrokenScenario; std::runtime_error when something is left over at the end.
/// Precondition: check_format() takes it; for a foreign main, so does main_may_be_foreign(); in a
/// cluster, no depends_on_time().
[[nodiscard]] nlohmann::json replay(const nlohmann::json& scenario,
                                    const ReplayOptions& options = {});

/// Whether the trace is the same with a foreign main: main neither waits nor asks for the running
/// loop (microtasks, timers, time that passes), nor does any listener that runs within main. Its
/// posts, aborts and changes of priority have the same effects before the loop's next task as
/// within one.
[[nodiscard]] bool main_may_be_foreign(const nlohmann::json& scenario);

/// Whether anything in it waits for time or takes some: a delay, a timer, a timeout, a spin. What
/// such a scenario does meanwhile is determined on a virtual clock, which stands while there are
/// tasks. On a cluster's, which is steady, any delay may be over before the next task.
[[nodiscard]] bool depends_on_time(const nlohmann::json& scenario);

}  // namespace heist::test
