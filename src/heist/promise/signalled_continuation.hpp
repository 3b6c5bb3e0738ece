// SignalledContinuation: how a coroutine goes on that yields and keeps its signal.
#pragma once

#include <heist/detail/frame_continuation.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scheduling_state.hpp>

#include "../signal/continuation.hpp"

namespace HEIST_NAMESPACE::detail {

/// A continuation that resumes its coroutine itself, where it runs. It has no promise. If it is
/// aborted, or dropped, the reaction in the coroutine's frame does so in its place.
///
/// Its coroutine goes on where it runs, with a state of no other signal than the continuation's
/// own; goes_on_where_it_runs() says whether that is so.
class SignalledContinuation final : public ControlledTask {
 public:
  /// Makes one that can be posted (post_reserved).   Errors: std::bad_alloc.
  [[nodiscard]] static SignalledContinuation& make(SchedulerCore& to,
                                                   const ContinuationSources& sources,
                                                   const SchedulingState& state,
                                                   ContinuationReaction& waiting);
  SignalledContinuation(SchedulerCore& to, const ContinuationSources& sources,
                        const SchedulingState& state, ContinuationReaction& waiting) noexcept;

 private:
  [[nodiscard]] static SignalledContinuation& of(SchedulerTask& task) noexcept {
    return static_cast<SignalledContinuation&>(ControlledTask::of(task));
  }
  [[nodiscard]] CapturedState leave_signal() noexcept;
  static void run(LoopNode& node, LoopCore& loop) noexcept;
  static void reject(SchedulerTask& task, const Reason& reason) noexcept;
  static void discard_callback(SchedulerTask& /*task*/) noexcept {}
  static void release_share(SchedulerTask& task) noexcept;
  static const TaskOps table;

  SignalLinks links_{*this};
  const SchedulingState state_;  ///< with which the coroutine goes on; the links keep its signal
  ContinuationReaction& waiting_;
};

/// Whether a SignalledContinuation will do for a coroutine that yields on `here` with this state.
[[nodiscard]] bool goes_on_where_it_runs(const SchedulerCore& to,
                                         const ContinuationSources& sources,
                                         const SchedulingState& state,
                                         const LoopCore& here) noexcept;

}  // namespace HEIST_NAMESPACE::detail
