// SignalledContinuation: how a coroutine goes on that yields and keeps its signal.
#pragma once

#include <heist/detail/frame_continuation.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scheduling_state.hpp>

#include "../signal/continuation.hpp"

namespace HEIST_NAMESPACE::detail {

/// A continuation that resumes its coroutine itself, where it runs. If it is aborted, or dropped, its
/// rejection, which is in the coroutine's frame, does so in its place. It has no promise.
///
/// Where its coroutine goes on is where it runs, and the state that the coroutine goes on with has
/// the continuation's own signals; goes_on_where_it_runs() says so.
class SignalledContinuation final : public ControlledTask {
 public:
  /// Makes one that can be posted (post_reserved).   Errors: std::bad_alloc.
  [[nodiscard]] static SignalledContinuation& make(SchedulerCore& to, const SchedulingState& state,
                                                   ContinuationRejection& rejection);
  SignalledContinuation(SchedulerCore& to, const SchedulingState& state,
                        ContinuationRejection& rejection) noexcept;

 private:
  [[nodiscard]] static SignalledContinuation& of(SchedulerTask& task) noexcept {
    return static_cast<SignalledContinuation&>(ControlledTask::of(task));
  }
  [[nodiscard]] CapturedState leave_signals() noexcept;
  static void run(LoopNode& node, LoopCore& loop) noexcept;
  static void reject(SchedulerTask& task, const Reason& reason) noexcept;
  static void discard_callback(SchedulerTask& task) noexcept;
  static void release_share(SchedulerTask& task) noexcept;
  static const TaskOps table;

  const SchedulingState state_;  ///< borrows its signals
  Ref<SignalCore> priority_source_;
  ContinuationRejection& rejection_;
};

/// Whether a SignalledContinuation will do for a coroutine that yields on `here` with this state.
[[nodiscard]] bool goes_on_where_it_runs(const SchedulerCore& to,
                                         const ContinuationSources& sources,
                                         const SchedulingState& state,
                                         const LoopCore& here) noexcept;

}  // namespace HEIST_NAMESPACE::detail
