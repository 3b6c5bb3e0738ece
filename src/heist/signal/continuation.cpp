#include "continuation.hpp"

#include <stdexcept>
#include <utility>

#include "../task/task_home.hpp"
#include "post_abortable.hpp"
#include "signal_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// The priority option with the defaults of the yield steps, or nothing when the signal gives the
/// priority.
std::optional<ContinuationPriority> effective_option(const YieldOptions& options) {
  if (options.priority()) {
    if (*options.priority() > ContinuationPriority::inherit) {
      throw std::invalid_argument("YieldOptions: the value is not a ContinuationPriority");
    }
    return options.priority();
  }
  if (Access::signal(options.signal()) != nullptr) return std::nullopt;
  return ContinuationPriority::inherit;
}

}  // namespace

ContinuationSources named_sources(const YieldOptions& options, const SchedulingState& current) {
  const YieldSignal& signal = options.signal();
  const auto priority = effective_option(options);
  ContinuationSources sources{.abort_source = Access::signal(signal)};
  if (Access::inherits(signal)) sources.abort_source = current.abort_source;
  if (priority == ContinuationPriority::inherit) {
    sources.priority_source = current.priority_source;
    sources.priority = current.priority;
  } else if (priority) {
    sources.priority = static_cast<TaskPriority>(*priority);
  } else {
    sources.priority_source =
        Access::signal(signal)->has_dynamic_priority() ? Access::signal(signal) : nullptr;
    sources.priority = Access::signal(signal)->fixed_priority();
  }
  return sources;
}

TaskPriority priority_now(const SchedulingState& state) noexcept {
  const TaskPriority priority = state.priority_source != nullptr
                                    ? state.priority_source->scheduling_priority()
                                    : state.priority;
  return state.scheduler != nullptr ? state.scheduler->capped(priority) : priority;
}

Promise<void> schedule_continuation(SchedulerCore& scheduler, const ContinuationSources& sources) {
  SignalCore* abort_source = sources.abort_source;
  if (abort_source != nullptr && abort_source->aborted()) {
    return Promise<void>::rejected_by_abort(abort_source->reason());
  }
  Turn turn{Ref<SignalCore>::share(sources.priority_source), nullptr};
  SignalPort* port = nullptr;
  if (turn.priority_source) {
    port = &turn.priority_source->port_for(scheduler);
    turn.priority_port = &port->priority_port();
  }
  auto* task = ContinuationTask::make(true, {}, std::move(turn));
  auto promise = Access::make<Promise<void>>(Ref<ContinuationTask::State>::adopt(task));
  task->set_home(&scheduler.home);
  task->scheduler = &scheduler;
  task->is_continuation = true;
  task->is_dynamic = sources.priority_source != nullptr;
  task->priority = scheduler.capped(sources.priority);
  task->links->has_one_signal = abort_source == sources.priority_source;
  if (task->links->has_one_signal) task->links->port = port;
  post_abortable(*task, Ref<SignalCore>::share(abort_source));
  return promise;
}

}  // namespace HEIST_NAMESPACE::detail
