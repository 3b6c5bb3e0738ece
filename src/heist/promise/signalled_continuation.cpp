#include "signalled_continuation.hpp"

#include <heist/detail/node_memory.hpp>
#include <utility>

#include "../loop/controlled_task.hpp"
#include "../loop/loop_core.hpp"
#include "../signal/post_abortable.hpp"

namespace HEIST_NAMESPACE::detail {

/// Nobody calls what is null: run() neither calls a callback nor settles a promise.
const TaskOps SignalledContinuation::table{{LoopNodeKind::task, &run, &drop_controlled_task},
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           &reject,
                                           &discard_callback,
                                           &release_share,
                                           nullptr,
                                           &release_share};

SignalledContinuation::SignalledContinuation(SchedulerCore& to, const ContinuationSources& sources,
                                             const SchedulingState& state,
                                             ContinuationReaction& waiting) noexcept
    : ControlledTask(table, &links_), state_(state), waiting_(waiting) {
  scheduler = &to;
  priority = to.capped(sources.priority);
  is_continuation = true;
  is_dynamic = sources.priority_source != nullptr;
  links_.has_one_signal = true;
}

SignalledContinuation& SignalledContinuation::make(SchedulerCore& to,
                                                   const ContinuationSources& sources,
                                                   const SchedulingState& state,
                                                   ContinuationReaction& waiting) {
  auto* task = make_node<SignalledContinuation>(to, sources, state, waiting);
  try {
    reserve_abortable(*task, sources.abort_source);
    if (state.priority_source != nullptr) to.home.reserve_place(waiting, state);
  } catch (...) {
    destroy_node(*task);
    throw;
  }
  return *task;
}

/// Gives the reference to the signal to the state with which the coroutine goes on.
CapturedState SignalledContinuation::leave_signal() noexcept {
  std::exchange(links_.signal, nullptr)->note_dead();
  return CapturedState::adopt(state_);
}

/// Resumes the coroutine as FrameContinuation does. From its start until then, nothing runs that
/// could abort it here, but another thread may.
void SignalledContinuation::run(LoopNode& node, LoopCore& loop) noexcept {
  auto& agent = loop.on_agent();
  auto& self = of(static_cast<SchedulerTask&>(node));
  if (!start_task(self) || !self.try_finish()) return dispose_unstarted(self, loop);
  if (self.is_dynamic) self.links_.cell.reset();
  loop.begin_task(self);
  {
    const CapturedState captured = self.leave_signal();
    agent.current = captured.state();
    self.waiting_.coroutine().resume();
    agent.change_current({});
  }
  release_share(self);
}

/// The state's signal is still there: an aborter keeps it, or, when there is none, the task does.
void SignalledContinuation::reject(SchedulerTask& task, const Reason& reason) noexcept {
  auto& self = of(task);
  self.waiting_.reject(reason, self.scheduler->home, self.state_);
}

void SignalledContinuation::release_share(SchedulerTask& task) noexcept {
  if (of(task).links_.memory.drop_or_be_last()) destroy_node(of(task));
}

bool goes_on_where_it_runs(const SchedulerCore& to, const ContinuationSources& sources,
                           const SchedulingState& state, const LoopCore& here) noexcept {
  const SignalCore* const signal = sources.abort_source;
  if (signal == nullptr || signal != state.abort_source || signal->aborted()) return false;
  const auto is_another = [signal](const SignalCore* source) noexcept {
    return source != nullptr && source != signal;
  };
  if (is_another(sources.priority_source) || is_another(state.priority_source)) return false;
  if (state.scheduler == nullptr || &state.scheduler->home != &to.home) return false;
  return &to.home == &here || (state.scheduler == &to && here.is_member_of(to.home));
}

}  // namespace HEIST_NAMESPACE::detail
