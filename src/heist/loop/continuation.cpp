#include "continuation.hpp"

#include <stdexcept>
#include <utility>

#include "loop_core.hpp"
#include "signal_core.hpp"
#include "submit.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// The priority option, once the defaults of the yield steps are applied; nothing when the signal
/// gives the priority.
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

Promise<void> schedule_continuation(SchedulerCore& scheduler, const ContinuationSources& sources) {
  SignalCore* abort_source = sources.abort_source;
  if (abort_source != nullptr && abort_source->aborted()) {
    return Promise<void>::rejected_by_abort(abort_source->reason());
  }
  Turn turn{Ref<SignalCore>::share(sources.priority_source), nullptr};
  if (turn.priority_source) {
    turn.priority_part = &turn.priority_source->part_for(scheduler).priority_part();
  }
  auto* task = make_node<ContinuationTask>(std::move(turn));
  auto promise = Access::make<Promise<void>>(Ref<ContinuationTask::State>::adopt(task));
  task->set_home(&scheduler.home);
  task->scheduler = &scheduler;
  task->is_continuation = true;
  task->is_dynamic = sources.priority_source != nullptr;
  task->priority = scheduler.capped(sources.priority);
  post_abortable(*task, abort_source);
  return promise;
}

const LoopNodeOps FrameContinuation::table{LoopNodeKind::task, &run, &drop};

/// Resumes with the state of the `co_await`, as the reaction to the continuation's promise would:
/// there is nothing between the two.
void FrameContinuation::run(LoopNode& node, LoopCore& loop) noexcept {
  auto& self = static_cast<FrameContinuation&>(static_cast<SchedulerTask&>(node));
  // The state is kept here, as the frame may be destroyed while the coroutine runs.
  const CapturedState captured = std::move(self.captured_);
  loop.on_agent().current = captured.state();
  self.coroutine_.resume();
  loop.on_agent().current = {};  // a signal that goes with the state may run users' destructors
}

void FrameContinuation::drop(LoopNode& node) noexcept {
  static_cast<FrameContinuation&>(static_cast<SchedulerTask&>(node)).coroutine_.destroy();
}

const LoopNodeOps ContinuationReaction::table{LoopNodeKind::microtask, &run, &drop};

ContinuationReaction::ContinuationReaction(Ref<PromiseState<void>> continuation,
                                           SuspendedCoroutine coroutine) noexcept
    : Reaction(table), continuation_(std::move(continuation)), coroutine_(coroutine) {
  follows_settler = true;
}

void ContinuationReaction::bind(const SchedulingState& state) {
  state.scheduler != nullptr ? bind_to(state) : bind_to_current_loop();
}

void ContinuationReaction::throw_if_rejected() const {
  if (continuation_->status() == PromiseStatus::rejected) continuation_->reason().rethrow();
}

ContinuationReaction& ContinuationReaction::of(LoopNode& node) noexcept {
  return static_cast<ContinuationReaction&>(static_cast<Reaction&>(node));
}

/// A continuation that its closing loop has dropped does not go on, like one in its frame.
void ContinuationReaction::run(LoopNode& node, LoopCore& loop) noexcept {
  auto& self = of(node);
  const auto& state = *self.continuation_;
  const bool dropped = loop.is_closed() && state.status() == PromiseStatus::rejected &&
                       state.reason() == close_abort_reason();
  dropped ? self.coroutine_.destroy() : self.coroutine_.resume();
}

void ContinuationReaction::drop(LoopNode& node) noexcept { of(node).coroutine_.destroy(); }

}  // namespace HEIST_NAMESPACE::detail
