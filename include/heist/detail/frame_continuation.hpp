// How a coroutine that yields goes on: as a task that lives in its own frame, or as one that has a
// node of its own.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/suspended_coroutine.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

struct ContinuationSources;

/// Says that a coroutine goes on elsewhere with the scheduling state that it has (resume_on).
struct Hop {};

/// A continuation that lives in the frame of its coroutine. This is possible because it has no
/// signal, so nobody but its loop ever touches it.
class HEIST_EXPORT FrameContinuation final : public SchedulerTask {
 public:
  /// The coroutine goes on with the state `captured`.
  FrameContinuation(SchedulerCore& to, TaskPriority fixed, const SchedulingState& captured,
                    SuspendedCoroutine coroutine) noexcept
      : SchedulerTask(table, false), captured_(captured), coroutine_(coroutine) {
    scheduler = &to;
    priority = fixed;
    is_continuation = true;
  }

 private:
  static void run(LoopNode& node, LoopCore& loop) noexcept;
  static void drop(LoopNode& node) noexcept;
  static const LoopNodeOps table;

  CapturedState captured_;
  SuspendedCoroutine coroutine_;
};

/// A coroutine that waits for a continuation which is in a node of its own: for its promise, or to
/// be resumed by it. Then whoever claims the continuation before it runs, as an aborter does, uses
/// this to resume the coroutine with the reason. It lives in the coroutine's frame. That lasts
/// until one of the two resumes the coroutine, and only one of them does.
class HEIST_EXPORT ContinuationReaction final : public Reaction {
 public:
  explicit ContinuationReaction(SuspendedCoroutine coroutine,
                                Ref<PromiseState<void>> continuation = {}) noexcept;
  [[nodiscard]] const SuspendedCoroutine& coroutine() const noexcept { return coroutine_; }
  void throw_if_rejected() const {
    if (reason_) reason_.rethrow();
  }

  // With a promise.

  /// The coroutine goes on with this state, where its scheduler is.   Errors: std::bad_alloc.
  void bind(const SchedulingState& state);
  /// From here on the coroutine may go on, or be destroyed, on another thread.
  void attach() noexcept { continuation_->attach(*this); }

  // Without one.

  /// Called by whoever has claimed the continuation, on any thread: the coroutine goes on there
  /// with this state. It may be gone afterwards.
  void reject(const Reason& reason, TaskHome& there, const SchedulingState& state) noexcept;

 private:
  static ContinuationReaction& of(LoopNode& node) noexcept;
  static void run(LoopNode& node, LoopCore& loop) noexcept;
  static void drop(LoopNode& node) noexcept;
  static const LoopNodeOps table;

  Ref<PromiseState<void>> continuation_;
  Reason reason_;  ///< why the continuation was rejected, once that is known here
  SuspendedCoroutine coroutine_;
};

}  // namespace HEIST_NAMESPACE::detail
