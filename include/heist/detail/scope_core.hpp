// ScopeCore: what the tasks of a TaskScope share, until the last of them has ended.
#pragma once

#include <cstdint>
#include <heist/delay.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

class ScopedTask;

/// Counts what a scope has started, and is the promise that settles when all of it has ended.
///
/// Roles   owner: the thread that has the TaskScope.  starters: threads that start tasks.  holders:
///         threads that end a task of the scope; one for each task.
/// States  open -> ended, when `open_` comes to zero. It never leaves zero again.
/// I1      `open_` counts the owner until it joins, and each task from before its post until its
///         callback is destroyed. Of a coroutine, its frame and its promise are over by then.
/// I2      Whoever drops the last count settles the promise, by the scope's signal as it is then.
///         Nobody else touches the scope after a drop.
/// I3      Only the scope's own controller knows of errors: the first one aborts it. So the signal
///         has the first error, and each task that starts or goes on can see it.
/// Edge ref (RefCount `open_`): what each task did, and the end of what it had captured, happen
///   before the last drop, and so before whoever sees that the promise is settled.
/// Reclamation  the shares of the promise: the TaskScope's and its joins', and one for the last
///         drop.
/// Progress  lock-free, but for wait() and end_unjoined().
/// Proof   stress/model/models/task_scopes.cpp
class HEIST_EXPORT ScopeCore final : public PromiseState<void> {
 public:
  /// `signal` is the controller's signal, or one that depends on it.
  ScopeCore(Ref<TaskHome> home, SchedulerCore& scheduler, Ref<SignalCore> controller,
            Ref<SignalCore> signal, std::optional<TaskPriority> priority) noexcept;
  ~ScopeCore() = default;

  [[nodiscard]] SignalCore& controller() const noexcept { return *controller_; }
  [[nodiscard]] SignalCore& signal() const noexcept { return *signal_; }
  [[nodiscard]] bool aborted() const noexcept;

  // What starters call.

  /// Counts a task that is about to be posted.
  /// Errors: InvalidStateError when the scope has ended; std::invalid_argument for a value that is
  /// no TaskPriority.
  void begin_start(const std::optional<TaskPriority>& priority);
  /// Posts a task that has been counted. Returns false when it was refused. Then it has ended, and
  /// the scope has been told why.
  /// Errors: std::bad_alloc; the task has ended then, and the scope goes on as if it had not been.
  bool post(ScopedTask& task, const std::optional<TaskPriority>& priority, Delay delay);

  // What holders call.

  /// Aborts the scope with an error, unless it is aborted already.
  void fail(const Reason& reason) noexcept;
  /// Called when a task, or the owner, has ended. The scope may be gone afterwards.
  void end_one() noexcept;
  /// These two count coroutines that have suspended. They end when an agent goes on with them.
  void begin_wait() noexcept {
    suspended_.fetch_add(1, sync::relaxed);  // relaxed: who looks at it looks again.
  }
  void end_wait() noexcept { suspended_.fetch_sub(1, sync::relaxed); }  // relaxed: as above.

  // What the owner calls.

  /// Errors: NotAllowedError when the caller is a task of the scope, which would wait for itself.
  void check_may_join() const;
  /// Blocks until the scope has ended; then throws its reason if it was aborted.
  /// Errors: that, and NotAllowedError when only agents that wait could end the tasks (CLU-5). The
  ///         scope is as before then.
  void join();
  /// Called before a co_await: from now on the scope may end.
  /// Errors: NotAllowedError when it has not ended, and no loop runs on this thread. The scope is
  ///         as before then.
  void begin_await();
  /// Called when the owner's TaskScope goes: aborts what has not ended, and returns when that has.
  /// Ends the program if that would never be.
  void end_unjoined() noexcept;

 private:
  static void destroy(PromiseStateBase& base) noexcept;
  void settle_by_signal() noexcept;
  void uncount_owner() noexcept;
  void count_owner_again() noexcept;
  void wait_aborted();
  [[nodiscard]] bool may_have_to_clear_again() const noexcept;
  [[nodiscard]] bool is_undriven() const noexcept;
  void clear_aborted_here(bool everywhere) noexcept;
  void clear_aborted_of(LoopCore& loop) noexcept;
  void clear_undriven() noexcept;
  void await_other_threads() noexcept;
  [[nodiscard]] bool has_only_coroutines() const noexcept;

  RefCount open_{1};
  sync::atomic<std::uint32_t> suspended_{0};
  sync::atomic<bool> has_failed_{false};  ///< its own first error has aborted it
  bool counts_owner_ = true;              ///< the owner's
  Ref<TaskHome> home_;
  SchedulerCore& scheduler_;
  Ref<SignalCore> controller_;
  Ref<SignalCore> signal_;
  std::optional<TaskPriority> priority_;
};

}  // namespace HEIST_NAMESPACE::detail
