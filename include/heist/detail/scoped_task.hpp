// ScopedTask: a task of a TaskScope, which the scope's join waits for.
#pragma once

#include <exception>
#include <heist/detail/access.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scope_core.hpp>
#include <heist/detail/within_scope.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The part of a scope's task that does not depend on its callback. Like a task of post() with a
/// signal it has no promise. Its scope counts it from before its post until its callback is
/// destroyed, which happens once, wherever the task ends:
///
/// - it has run: after the callback, or when the promise that the callback returned has settled;
/// - it was aborted before it started: when it is reaped;
/// - its home has refused or dropped it: there, and the scope aborts with that reason.
class HEIST_EXPORT ScopedTask : public ControlledTask {
 public:
  [[nodiscard]] ScopeCore& scope() const noexcept { return scope_; }

 protected:
  ScopedTask(const TaskOps& table, ScopeCore& scope) noexcept
      : ControlledTask(table, &own_links_), scope_(scope) {}
  ~ScopedTask() = default;

  /// Has `reaction` dropped by the agent of the task's home that settles the promise which its
  /// callback returned. If another thread settles that, the reaction goes to the home.
  void follow(PromiseStateBase& returned, Reaction& reaction) noexcept;
  /// Takes over how that promise was settled.
  void heed(const PromiseStateBase& returned) noexcept {
    if (returned.status() == PromiseStatus::rejected) scope_.fail(returned.reason());
  }
  /// Whether this was the last share of the node's memory.
  [[nodiscard]] bool drop_share() noexcept { return own_links_.memory.drop_or_be_last(); }

  /// An aborter rejects what it has claimed, and the scope knows of that abort. Any other reason
  /// says why the task will never start, although nobody has aborted it.
  static void reject(SchedulerTask& task, const Reason& reason) noexcept {
    if (!task.is_aborted()) static_cast<ScopedTask&>(ControlledTask::of(task)).scope_.fail(reason);
  }

 private:
  SignalLinks own_links_{*this};
  ScopeCore& scope_;
};

/// A task of a scope with its callback, which returns nothing or a Promise<void>. The promise is
/// kept here, beside the callback, because a coroutine that is a lambda uses its captures until it
/// has ended.
template <class Callback>
class ScopedCallback final : public ScopedTask {
 public:
  template <class F>
  ScopedCallback(ScopeCore& scope, F&& callback)
      : ScopedTask(table, scope), callback_(std::forward<F>(callback)) {}
  ~ScopedCallback() {}  // the callback is gone

 private:
  static constexpr bool may_wait = is_promise<std::invoke_result_t<Callback&>>;

  /// The reaction to the promise that the callback returned.
  struct Waiting final : Reaction {
    explicit Waiting(ScopedCallback& of) noexcept : Reaction(table), task(of) {}
    static void run(LoopNode& node, LoopCore& /*loop*/) noexcept { drop(node); }
    static void drop(LoopNode& node) noexcept {
      static_cast<Waiting&>(static_cast<Reaction&>(node)).task.end_wait();
    }
    static constexpr LoopNodeOps table{LoopNodeKind::microtask, &run, &drop};

    ScopedCallback& task;
    std::optional<std::invoke_result_t<Callback&>> returned;
  };
  struct NotWaiting {
    explicit NotWaiting(ScopedCallback& /*of*/) noexcept {}
  };

  static ScopedCallback& of(SchedulerTask& task) noexcept {
    return static_cast<ScopedCallback&>(ControlledTask::of(task));
  }
  /// The scope hears of an exception before the callback is destroyed, when it may end.
  static TaskOutcome invoke(SchedulerTask& task, Reason& /*error*/) noexcept {
    std::exception_ptr thrown;
    try {
      const WithinScope within(&of(task).scope().signal(), WithinScope::Starts());
      of(task).call();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown) of(task).scope().fail(Reason::of(std::move(thrown)));
    return TaskOutcome::value;
  }
  void call() {
    if constexpr (may_wait) {
      keep(callback_());
    } else {
      callback_();
    }
  }
  template <class Returned>
  void keep(Returned&& promise) noexcept {
    if (!promise.valid()) return scope().fail(moved_from_reason());
    auto& state = Access::state(promise);
    if (!state.is_settled())
      return void(waiting_.returned.emplace(std::forward<Returned>(promise)));
    state.mark_handled();
    heed(state);
  }
  [[nodiscard]] bool waits() const noexcept {
    if constexpr (may_wait) return waiting_.returned.has_value();
    return false;
  }
  void end_wait() noexcept
    requires may_wait
  {
    scope().end_wait();
    heed(Access::state(*waiting_.returned));
    waiting_.returned.reset();
    end();
    release_share(*this);
  }
  /// The scope may be gone afterwards, and all that the callback referred to.
  void end() noexcept {
    {
      const WithinScope within(&scope().signal());
      std::destroy_at(std::addressof(callback_));
    }
    scope().end_one();
  }

  static void settle(SchedulerTask& /*task*/, TaskOutcome /*outcome*/, Reason& /*error*/) noexcept {
  }
  static void discard_callback(SchedulerTask& task) noexcept {
    if (!of(task).waits()) of(task).end();
  }
  static void retire(SchedulerTask& task) noexcept {
    auto& self = of(task);
    if constexpr (may_wait) {
      if (self.waits()) return self.follow(Access::state(*self.waiting_.returned), self.waiting_);
    }
    release_share(self);
  }
  static void release_share(SchedulerTask& task) noexcept {
    if (of(task).drop_share()) destroy_node(of(task));
  }
  /// Nobody calls what is null, as of a task of post(). invoke() never asks for settle().
  static constexpr TaskOps table{{LoopNodeKind::task, &run_signalled_task, &drop_controlled_task},
                                 &invoke,
                                 &settle,
                                 nullptr,
                                 &reject,
                                 &discard_callback,
                                 &retire,
                                 nullptr,
                                 &release_share};

  [[no_unique_address]] std::conditional_t<may_wait, Waiting, NotWaiting> waiting_{*this};
  union {
    // NOLINTNEXTLINE(readability-identifier-naming): private, as the union is
    Callback callback_;
  };
};

}  // namespace HEIST_NAMESPACE::detail
