#include <heist/detail/frame_continuation.hpp>
#include <utility>

#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

const LoopNodeOps FrameContinuation::table{LoopNodeKind::task, &run, &drop};

/// Resumes the coroutine with the state of its `co_await`, as the reaction to the continuation's
/// promise would. Nothing would run between the continuation and that reaction.
void FrameContinuation::run(LoopNode& node, LoopCore& loop) noexcept {
  auto& self = static_cast<FrameContinuation&>(static_cast<SchedulerTask&>(node));
  // The state is kept here, because the frame may be destroyed while the coroutine runs.
  const CapturedState captured = std::move(self.captured_);
  loop.on_agent().current = captured.state();
  self.coroutine_.resume();
  loop.on_agent().change_current(
      {});  // a signal that goes with the state may run users' destructors
}

void FrameContinuation::drop(LoopNode& node) noexcept {
  auto& self = static_cast<FrameContinuation&>(static_cast<SchedulerTask&>(node));
  self.coroutine_.destroy(self.captured_.state());
}

const LoopNodeOps ContinuationReaction::table{LoopNodeKind::microtask, &run, &drop};

ContinuationReaction::ContinuationReaction(SuspendedCoroutine coroutine,
                                           Ref<PromiseState<void>> continuation) noexcept
    : Reaction(table), continuation_(std::move(continuation)), coroutine_(coroutine) {
  follows_settler = true;
}

void ContinuationReaction::bind(const SchedulingState& state) {
  state.scheduler != nullptr ? bind_to(state) : bind_to_current_loop();
}

void ContinuationReaction::reject(const Reason& reason, TaskHome& there,
                                  const SchedulingState& state) noexcept {
  reason_ = reason;
  home = Ref<TaskHome>::share(&there);
  captured = CapturedState(state);
  deliver(*this);
}

ContinuationReaction& ContinuationReaction::of(LoopNode& node) noexcept {
  return static_cast<ContinuationReaction&>(static_cast<Reaction&>(node));
}

/// If the closing loop has dropped the continuation, the coroutine does not go on, like one whose
/// continuation is in its frame.
void ContinuationReaction::run(LoopNode& node, LoopCore& loop) noexcept {
  auto& self = of(node);
  const auto* state = self.continuation_.get();
  if (state != nullptr && state->status() == PromiseStatus::rejected) {
    self.reason_ = state->reason();
  }
  const bool dropped = loop.is_closed() && self.reason_ == close_abort_reason();
  dropped ? self.coroutine_.destroy(loop.on_agent().current) : self.coroutine_.resume();
}

void ContinuationReaction::drop(LoopNode& node) noexcept {
  of(node).coroutine_.destroy(of(node).captured.state());
}

}  // namespace HEIST_NAMESPACE::detail
