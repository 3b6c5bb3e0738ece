// TaskScope: tasks and coroutines that have ended when the scope has been joined.
#pragma once

#include <concepts>
#include <heist/abort_signal.hpp>
#include <heist/delay.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/coroutine.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scope_core.hpp>
#include <heist/detail/scoped_task.hpp>
#include <heist/error.hpp>
#include <heist/priority.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

class Scheduler;

/// Options of a TaskScope.
struct TaskScopeOptions {
  /// When it aborts, so does the scope, with its reason. If it is a TaskSignal, by whatever handle,
  /// tasks that have no fixed priority follow its priority.
  std::optional<AbortSignal> signal = {};
  /// Fixes the priority of the scope's tasks (default: the signal's, else user-visible).
  std::optional<TaskPriority> priority = {};
};

/// Options of one task of a TaskScope.
struct StartOptions {
  /// Fixes the priority of this task (default: the scope's).
  std::optional<TaskPriority> priority = {};
  /// Time before the task becomes runnable, counted from the call.
  Delay delay = {};
};

/// What TaskScope::join() returns: `co_await` goes on when the scope has ended. If it is not
/// awaited, its destructor blocks until then, which is at the end of the statement `scope.join();`.
/// It does not block when an exception, or a close that destroys a coroutine's frame, comes before
/// that: then the scope's own destructor waits. One that has a name is awaited as
/// `co_await std::move(joined)`.
///
/// Thread, Errors: as of TaskScope::join(), whose errors its destructor throws.
class HEIST_EXPORT ScopeJoin {
 public:
  ScopeJoin(const ScopeJoin&) = delete;
  ScopeJoin& operator=(const ScopeJoin&) = delete;
  // A join that is a statement has to throw what a task threw, and only here it is known that it is
  // one.
  ~ScopeJoin() noexcept(
      false);  // NOLINT(bugprone-exception-escape,performance-noexcept-destructor)

  detail::PromiseAwaiter<void> operator co_await() &&;

 private:
  friend struct detail::Access;
  explicit ScopeJoin(detail::Ref<detail::ScopeCore> core) noexcept;

  detail::Ref<detail::ScopeCore> core_;
  int exceptions_;  ///< that were in flight: what unwinds the stack is not replaced
  int frames_;      ///< that were being destroyed: what destroys one must not throw either
  bool is_awaited_ = false;
};

namespace detail {
template <>
inline constexpr bool restores_state<ScopeJoin> = true;
}  // namespace detail

/// Starts tasks and coroutines, and waits until all of them have ended. It is for work that refers
/// to what its starter owns:
///
///   std::vector<Hit> hits(blocks.size());
///   TaskScope scope(scheduler);
///   for (std::size_t i = 0; i < blocks.size(); ++i)
///     scope.start([&, i] { hits[i] = search(blocks[i]); });
///   scope.join();  // in a coroutine: co_await scope.join();
///
/// When a join has returned, or thrown what a task threw, all that the scope has started has ended:
/// callbacks have returned, or were never called; they and what they had captured are destroyed,
/// and so are the frames of coroutines. That holds whatever has come between: exceptions, aborts,
/// and closes of the scheduler's loop or cluster.
///
/// The first error aborts the scope: what has not started never does, and the rest sees it in
/// signal(). An error is an exception that leaves a callback or a coroutine. It is also one when
/// the loop refuses or drops a task, because it is closed: work that a join had to answer for was
/// not done.
///
/// Spec:     docs/adr/0048-task-scope.md.
/// Thread:   start(), abort(), signal(): any, while the scope is there; a task of the scope may
///           start more. The rest: the owner's, one at a time.
/// Lifetime: what tasks refer to must outlive the scope, so declare it before the scope. Destroying
///           a scope that was not joined aborts it and waits for its tasks, as below.
class HEIST_EXPORT TaskScope {
 public:
  /// Errors: std::bad_alloc; std::invalid_argument for a value that is no TaskPriority, and for
  ///         handles that were moved from.
  /// Cost:   two allocations, three with a signal.
  explicit TaskScope(const Scheduler& scheduler, const TaskScopeOptions& options = {});
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;
  /// Aborts what has not ended, and returns when that has ended. Prefer to join: an error of a task
  /// goes to the error hook then, unless somebody has seen it.
  ///
  /// Thread: plain threads; an agent, if it suffices that others run the tasks that have started.
  /// Blocks: until they have ended. It disposes itself of what has not started, where only the
  ///         calling agent could, or where nobody drives the loop. If that lasts, it also disposes
  ///         of other aborted tasks of the calling agent.
  /// Errors: ends the program, with a message, where this could never return: within a task of the
  ///         scope, or in the end of what one has captured; and when coroutines wait for an agent
  ///         that destroys their scope. Await join() before anything else then. It tells the error
  ///         hook when coroutines wait for long for a loop that nobody drives. Contract SCO-6 names
  ///         the waits that last.
  ~TaskScope();

  /// Runs `callback()` as a task of the scope. It returns nothing, or it is a coroutine that
  /// returns `Promise<void>`, which the scope waits for. (A promise of post_task says less: it
  /// rejects at an abort, while its task still runs. Start that in the scope, too.) Results go
  /// where the caller looks for them: by reference. False: the task was refused, and the callback
  /// will not run, because the scope is aborted, or the loop is closed; join() says which.
  ///
  /// Thread: any, lock-free.   Blocks: never.
  /// Errors: InvalidStateError when the scope has ended, so that nobody would wait for the task;
  ///         std::bad_alloc; std::invalid_argument for a callback that is null or empty, and for a
  ///         value that is no TaskPriority. Nothing has changed then.
  /// Cost:   as Scheduler::post with a signal, and two read-modify-writes of the scope's count.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  bool start(Callback&& callback, const StartOptions& options = {}) {
    using Held = std::decay_t<Callback>;
    using Returned = std::invoke_result_t<Held&>;
    static_assert(!detail::is_forkable<Returned>,
                  "nobody would run what the callback returns: await it in a coroutine that "
                  "returns Promise<void>");
    static_assert(detail::is_forkable<Returned> || std::is_void_v<Returned> ||
                      std::same_as<Returned, Promise<void>>,
                  "nobody would see what the callback returns: store it where the caller looks for "
                  "it, or use post_task");
    detail::check_callback(callback, "TaskScope::start");
    core_->begin_start(options.priority);
    Counted counted{core_.get()};
    if (core_->aborted()) return false;
    auto& task =
        *detail::make_node<detail::ScopedCallback<Held>>(*core_, std::forward<Callback>(callback));
    counted.core = nullptr;  // the task has its place now
    return core_->post(task, options.priority, options.delay);
  }

  /// Waits until all that the scope has started has ended. `co_await scope.join()` lets others run
  /// meanwhile, and does not return earlier when the awaiting task is aborted. `scope.join();`
  /// blocks. Afterwards nothing can be started any more; until then tasks of the scope may start
  /// more. Later joins return at once, and throw the same.
  ///
  /// Thread: the owner's. `co_await`: an agent. Blocking: plain threads; on an agent when others
  ///         run the tasks.
  /// Errors: if the scope was aborted when its last task ended, the reason: the first error, what
  ///         abort() was given, AbortError, or the reason of the signal in the options. It throws a
  ///         plain value as Aborted. Besides, NotAllowedError, and then more can be started: in a
  ///         task of the scope, which would wait for itself; when only agents that wait could end
  ///         the tasks (CLU-5); and off an agent for a `co_await` that would have to wait.
  ScopeJoin join();

  /// Aborts the scope, with AbortError or with the given reason. What has not started never starts;
  /// what runs sees it in signal(), and coroutines at their next yield(). A second call does
  /// nothing.
  ///
  /// Thread: any.   Blocks: never.   Errors: std::bad_alloc, nothing changed.   Cost: as
  ///         AbortController::abort.
  void abort();
  void abort(const Reason& reason);
  template <class Value>
    requires(!std::same_as<std::remove_cvref_t<Value>, Reason>)
  void abort(Value&& reason) {
    abort(Reason(std::forward<Value>(reason)));
  }

  /// The signal that the scope's tasks have. It aborts with the first error, by abort(), and with
  /// the signal of the options. Pass it on to what a task calls, or to a scope within this one.
  ///
  /// Thread: any.
  [[nodiscard]] AbortSignal signal() const noexcept;

 private:
  /// A task that is counted, and not made yet.
  struct Counted {
    detail::ScopeCore* core;
    ~Counted() {
      if (core != nullptr) core->end_one();
    }
  };

  detail::Ref<detail::ScopeCore> core_;
};

}  // namespace HEIST_NAMESPACE
