// How a yield finds the abort source and the priority of its continuation, and schedules it.
#pragma once

#include <heist/detail/access.hpp>
#include <heist/detail/posted_task.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/promise.hpp>
#include <heist/yield.hpp>

namespace HEIST_NAMESPACE::detail {

struct SignalPort;

/// Where a continuation's abort and its priority come from. The signals are borrowed.
struct ContinuationSources {
  SignalCore* abort_source = nullptr;
  SignalCore* priority_source = nullptr;  ///< null: the priority is fixed
  TaskPriority priority = TaskPriority::user_visible;
};

/// Does [sched#compute-the-scheduling-state-from-options] for a yield with options. `current` is
/// the state to inherit from.   Errors: std::invalid_argument.
[[nodiscard]] ContinuationSources named_sources(const YieldOptions& options,
                                                const SchedulingState& current);
/// Does the same for any yield. Most have no options, and inherit everything.
[[nodiscard]] inline ContinuationSources sources_of(const YieldOptions& options,
                                                    const SchedulingState& current) {
  const bool has_options = options.priority() || Access::inherits(options.signal()) ||
                           Access::signal(options.signal()) != nullptr;
  if (has_options) return named_sources(options, current);
  return {current.abort_source, current.priority_source, current.priority};
}

/// The priority that a continuation of this state would have now.
[[nodiscard]] TaskPriority priority_now(const SchedulingState& state) noexcept;

/// The callback of a continuation. It does nothing, because what somebody waits for is the
/// continuation's promise.
struct Turn {
  void operator()() const noexcept {}

  Ref<SignalCore> priority_source;
  SignalPort* priority_port = nullptr;  ///< if the priority is dynamic: has its queue
};

/// A continuation that may be aborted or moved.
using ContinuationTask = PromiseTask<Turn>;

/// Schedules a continuation, and returns its promise.   Errors: std::bad_alloc.
[[nodiscard]] Promise<void> schedule_continuation(SchedulerCore& scheduler,
                                                  const ContinuationSources& sources);

}  // namespace HEIST_NAMESPACE::detail
