// AbortSignal and AbortController, and Subscription: a listener's place with a signal.
#pragma once

#include <concepts>
#include <heist/delay.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/listed_signal.hpp>
#include <heist/detail/listener.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <initializer_list>
#include <optional>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

class Scheduler;
class TaskSignal;
struct ListenerOptions;

/// Scoped registration of a listener; move-only. Destroying it removes the listener; when that
/// listener runs on another thread at the moment, the removal waits for it, as std::stop_callback
/// does (ABT-7). A listener may remove itself.
///
/// Thread: any, one at a time.   Lifetime: may outlive the signal.
class [[nodiscard]] HEIST_EXPORT Subscription {
 public:
  Subscription() noexcept = default;
  Subscription(Subscription&&) noexcept = default;
  Subscription& operator=(Subscription&& other) noexcept {
    Subscription moved(std::move(other));
    std::swap(listener_, moved.listener_);
    std::swap(signal_, moved.signal_);
    std::swap(event_, moved.event_);
    return *this;
  }
  ~Subscription() { reset(); }

  /// Removes the listener now.
  void reset() noexcept;

  /// True while the listener may still be called, or its last call is under way.
  [[nodiscard]] bool active() const noexcept;

 private:
  friend struct detail::Access;
  Subscription(detail::Ref<detail::Listener> listener, detail::Ref<detail::SignalCore> signal,
               detail::SignalEventKind event) noexcept
      : listener_(std::move(listener)), signal_(std::move(signal)), event_(event) {}

  detail::Ref<detail::Listener> listener_;
  detail::Ref<detail::SignalCore> signal_;
  detail::SignalEventKind event_ = detail::SignalEventKind::abort;
};

/// Observes whether something was aborted, and why; shared handle. Only its controller aborts
/// (SEC-1).
///
/// Spec:     DOM's AbortSignal.   Differs: listeners are scoped subscriptions.
/// Thread:   any; one handle is used by one thread at a time, copies may be anywhere.
/// Lifetime: any order of destruction with controllers, schedulers, promises (LIF-2).
class HEIST_EXPORT AbortSignal {
 public:
  /// A signal that is aborted already, with AbortError or with the given reason; it never has an
  /// event.
  ///
  /// Spec: [dom#dom-abortsignal-abort].   Thread: any.   Errors: std::bad_alloc.
  [[nodiscard("this makes another signal; an AbortController aborts one")]]
  static AbortSignal abort();
  [[nodiscard("this makes another signal; an AbortController aborts one")]]
  static AbortSignal abort(const Reason& reason);
  template <class Value>
    requires(!std::same_as<std::remove_cvref_t<Value>, Reason>)
  [[nodiscard("this makes another signal; an AbortController aborts one")]]
  static AbortSignal abort(Value&& reason) {
    return abort(Reason(std::forward<Value>(reason)));
  }

  /// A signal that aborts with TimeoutError once the delay, counted from the call, is over. It does
  /// so at the next pick of the current loop, or of the scheduler's, before any other task. Its
  /// timer lives for as long as the signal is observed, and does not keep a loop from being idle.
  /// On a closed loop it never ends.
  ///
  /// Spec:   [dom#dom-abortsignal-timeout], contract DLY-2, DLY-6.
  /// Thread: an agent; with a scheduler any.   Blocks: never.
  /// Errors: std::bad_alloc; NotAllowedError off an agent.   Cost: one allocation; dropping it
  ///         O(1).
  [[nodiscard]] static AbortSignal timeout(Delay delay);
  [[nodiscard]] static AbortSignal timeout(const Scheduler& scheduler, Delay delay);

  /// A signal that aborts when the first of these does, with its reason. If some are aborted
  /// already, it is aborted from the beginning, with the reason of the first of them in the list.
  /// Destroying it costs the others nothing: a server may combine its shutdown signal with every
  /// request's (ABT-5).
  ///
  /// When one of them aborts, all that depend on it are marked aborted first; then events are
  /// delivered, its own before theirs, theirs in order of creation (ABT-3).
  ///
  /// The signal has no priority, whatever the others are (as the specification has it): tasks with
  /// it are user-visible. A TaskSignal in a list in braces does not compile; TaskSignal::any()
  /// keeps its priority. A handle that is moved into a list in braces may be moved from.
  ///
  /// Spec:   [dom#dom-abortsignal-any].   Thread: any, lock-free.   Blocks: never.
  /// Errors: std::bad_alloc; std::invalid_argument for a moved-from signal. Nothing is changed
  ///         then.
  /// Cost:   one allocation, and one more when it is a signal's ninth registration; for n signals n
  ///         registrations, which are dropped in amortised O(n), and half of n * n comparisons of
  ///         addresses.
  [[nodiscard]] static AbortSignal any(std::span<const AbortSignal> signals);
  [[nodiscard]] static AbortSignal any(std::initializer_list<detail::ListedSignal> signals);

  /// A signal that aborts, with AbortError, when a stop of the token is requested: within that
  /// call, on its thread. If it was requested before, the signal is aborted from the beginning.
  ///
  /// Thread: any.   Errors: std::bad_alloc.   Cost: one allocation; the standard library's spin
  ///         lock.
  [[nodiscard]] static AbortSignal from(const std::stop_token& token);

  /// A token whose stop is requested by the abort, in the place of a listener that was added at the
  /// first call; the reason is not passed on.
  ///
  /// Thread:   any.   Errors: std::bad_alloc.   Cost: the first call of a signal allocates twice.
  /// Lifetime: a token does not keep the signal: keep a handle of one that any(), timeout() or
  ///           from() made. Without the signal no stop is possible any more.
  [[nodiscard]] std::stop_token stop_token() const;

  /// True once the signal was aborted, and never false again. False for a moved-from handle, which
  /// fails an assertion in debug builds.
  ///
  /// Cost: one load.
  [[nodiscard]] bool aborted() const noexcept;

  /// The abort reason; empty while not aborted.
  [[nodiscard]] Reason reason() const noexcept;

  /// Throws the reason if the signal was aborted; a plain value as `Aborted`.
  ///
  /// Errors: that, and std::invalid_argument for a handle that was moved from.
  void throw_if_aborted() const;

  /// Calls `listener()` or `listener(AbortSignal)` once, in the thread that aborts (ABT-8), after
  /// the tasks' abort steps and in the order of registration. It is not called when the signal was
  /// aborted before.
  ///
  /// Errors: std::bad_alloc; std::invalid_argument for a listener that is null or empty, and for a
  ///         handle that was moved from.
  /// Cost:   one allocation, and one more for the signal's ninth registration; lock-free.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&> ||
             std::invocable<std::decay_t<Callback>&, AbortSignal>
  Subscription on_abort(Callback&& listener) const {
    check_valid("AbortSignal::on_abort");
    return add_abort_listener(abort_listener(std::forward<Callback>(listener)));
  }
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&> ||
             std::invocable<std::decay_t<Callback>&, AbortSignal>
  Subscription on_abort(Callback&& listener, const ListenerOptions& options) const {
    check_valid("AbortSignal::on_abort");
    check_signal(options);
    return add_abort_listener(abort_listener(std::forward<Callback>(listener)), options);
  }

  /// The TaskSignal that this is a handle of; nothing when the signal has no priority. Tasks that
  /// are posted with it take its priority through either handle.
  ///
  /// Include heist/task_signal.hpp to call it.
  [[nodiscard]] std::optional<TaskSignal> as_task_signal() const noexcept;

  /// False once moved from; calls through such a handle then throw std::invalid_argument, which
  /// names the call.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(core_); }

  friend bool operator==(const AbortSignal&, const AbortSignal&) noexcept = default;

 protected:
  explicit AbortSignal(detail::Ref<detail::SignalCore> core) noexcept : core_(std::move(core)) {}
  [[nodiscard]] detail::SignalCore& core() const noexcept { return *core_; }
  [[nodiscard]] detail::Ref<detail::SignalCore> into_core() && noexcept { return std::move(core_); }
  /// Errors: std::invalid_argument, naming the call, when it was moved from.
  void check_valid(const char* call) const {
    if (!valid()) [[unlikely]]
      detail::refuse_moved_from(call);
  }
  static void check_signal(const ListenerOptions& options);

 private:
  friend struct detail::Access;
  friend class AbortController;

  template <class Callback>
  static detail::Listener& abort_listener(Callback&& listener) {
    static_assert(!detail::listener_returns_promise<std::decay_t<Callback>, AbortSignal>,
                  "a coroutine outlives the listener: post it as a task instead");
    detail::check_callback(listener, "AbortSignal::on_abort");
    auto call = [callback = std::decay_t<Callback>(std::forward<Callback>(listener))](
                    detail::SignalEvent& event) mutable {
      if constexpr (std::invocable<std::decay_t<Callback>&>) {
        callback();
      } else {
        callback(AbortSignal(detail::Ref<detail::SignalCore>::share(&event.signal)));
      }
    };
    return *detail::make_node<detail::CallbackListener<decltype(call)>>(std::move(call));
  }
  Subscription add_abort_listener(detail::Listener& listener) const;
  Subscription add_abort_listener(detail::Listener& listener, const ListenerOptions& options) const;

  detail::Ref<detail::SignalCore> core_;
};

/// Options of on_abort and on_priority_change.
///
/// Spec: [dom#dictdef-addeventlisteneroptions].
struct ListenerOptions {
  /// The listener is called for one event at most, and is removed before that call.
  bool once = false;
  /// When this signal aborts, the listener is removed. No call begins after that. A call that runs
  /// on another thread is not waited for, unlike when the Subscription is destroyed. If the signal
  /// is aborted already, the listener is not added.
  std::optional<AbortSignal> signal = {};
};

inline void AbortSignal::check_signal(const ListenerOptions& options) {
  if (options.signal) options.signal->check_valid("ListenerOptions::signal");
}

/// Aborts its signal. Copies abort the same one; moving is copying.
///
/// Thread: any; calls from several threads are ordered, the first wins.
class HEIST_EXPORT AbortController {
 public:
  AbortController();
  AbortController(const AbortController&) = default;
  AbortController& operator=(const AbortController&) = default;
  ~AbortController() = default;

  /// The signal that it aborts.
  [[nodiscard]] AbortSignal signal() const noexcept { return AbortSignal(core_); }

  /// Aborts with AbortError, or with the given reason (an exception or any plain value).
  ///
  /// When the winning call returns, no unstarted task of the signal will ever start and their
  /// promises are rejected (ABT-2). Listeners run inside the call, with no lock held. A second call
  /// does nothing.
  ///
  /// Thread: any.   Blocks: never by itself.   Errors: std::bad_alloc, nothing changed.
  /// Cost: O(tasks of the signal), no allocation beyond the reason.
  void abort();
  void abort(const Reason& reason);
  template <class Value>
    requires(!std::same_as<std::remove_cvref_t<Value>, Reason>)
  void abort(Value&& reason) {
    abort(Reason(std::forward<Value>(reason)));
  }

 protected:
  explicit AbortController(detail::Ref<detail::SignalCore> core) noexcept
      : core_(std::move(core)) {}
  [[nodiscard]] detail::SignalCore& core() const noexcept { return *core_; }

 private:
  detail::Ref<detail::SignalCore> core_;
};

}  // namespace HEIST_NAMESPACE
