// Listener: a callback in a signal's registry.
#pragma once

#include <concepts>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Whether a listener, called without or with its argument, returns a promise.
template <class Callback, class Argument>
inline constexpr bool listener_returns_promise = [] {
  if constexpr (std::invocable<Callback&>) {
    return is_promise<std::invoke_result_t<Callback&>>;
  } else {
    return is_promise<std::invoke_result_t<Callback&, Argument>>;
  }
}();

/// Which event a listener waits for. It has 32 bits because it is an argument of the library
/// (TaskOutcome says why).
enum class SignalEventKind : std::uint32_t { abort, priority_change };

/// What a listener is told.
struct SignalEvent {
  SignalCore& signal;
  TaskPriority previous = TaskPriority::user_visible;  ///< of a priority change
  TaskPriority current = TaskPriority::user_visible;
};

/// A callback in a signal's registry, with the protocol of running it against removing it.
///
/// Roles   dispatcher: the one thread that delivers an event.  remover: the owner of the
///         Subscription.   aborter: the thread that aborts the signal that the listener is bound to
///         (bond_).
/// States  idle -> running -> idle (or gone, if a removal was asked for meanwhile); idle -> gone.
///         The aborter, and the one run of a once listener, go idle -> leaving -> gone.
/// I1      Whoever changes the phase to gone destroys the callback, and the bond with it. This
///         happens once.
/// I2      bond_ is set before the listener is registered anywhere, read by the dispatcher while it
///         runs the listener, and given up by whoever destroys the callback.
/// I3      Whoever takes the listener out of idle or running for ever tells its registry, once.
/// Edge listener: finish -> remove, removed, claim, observe. What the callback did happened before
///   the removal returns, and before its next run. (The registry's edge orders the first run.)
/// Edge listener: remove -> taken. What the remover did happened before the dispatcher destroys the
///   callback for it.
/// Progress  a removal blocks only while another thread runs or destroys the callback. The aborter
///         and all others never wait.
/// Proof   stress/listener_stress.cpp, stress/model/models/listeners.cpp
class HEIST_EXPORT Listener : public Registration {
 public:
  /// Makes it a listener for one event only. Must be called before it is registered.
  void run_once() noexcept { ops = &once_ops; }
  /// Ends the listener when `signal` aborts. Must be called before the listener is registered with
  /// `own` for `event`. Returns false if `signal` is already aborted.   Errors: std::bad_alloc,
  /// nothing changed.
  [[nodiscard]] bool bind(SignalCore& own, SignalEventKind event, SignalCore& signal);

  /// Runs the listener if it is idle. Only the dispatcher calls it, in order. Returns true if that
  /// was the one run of a once listener.
  [[nodiscard]] bool dispatch(SignalEvent& event) noexcept;
  /// Ends the listener because its event will not come again.
  void retire() noexcept;
  /// The next listener of the event being delivered. Only the dispatcher uses it.
  Listener* dispatch_next = nullptr;

  /// Removes the listener; waits while another thread runs it. Returns false if something else had
  /// ended it.
  [[nodiscard]] bool remove() noexcept;
  /// As remove(), without waiting: if another thread runs the listener, that thread destroys the
  /// callback.
  [[nodiscard]] bool withdraw() noexcept;
  [[nodiscard]] bool active() const noexcept;

  friend void retain(Listener& listener) noexcept;
  friend void release(Listener& listener) noexcept;

 protected:
  Listener(void (*call)(Listener&, SignalEvent&), void (*discard)(Listener&) noexcept,
           void (*destroy)(Listener&) noexcept) noexcept;
  ~Listener() = default;

 private:
  enum class Phase : std::uint32_t { idle, running, leaving, gone };
  class Bond;
  void run(SignalEvent& event) noexcept;
  void end() noexcept;
  void destroy_callback() noexcept;
  static bool claim(Registration& registration) noexcept;
  static bool is_dead(const Registration& registration) noexcept;
  static void forget(Registration& registration) noexcept;
  static const Ops listener_ops;
  static const Ops once_ops;

  sync::atomic<Phase> phase_{Phase::idle};
  RefCount shares_{2};  ///< the subscription's, the registry's, and the bond's
  sync::atomic<const void*> runner_{nullptr};  ///< identity of the thread that runs it
  Bond* bond_ = nullptr;                       ///< a share of it
  void (*call_)(Listener&, SignalEvent&);
  void (*discard_)(Listener&) noexcept;
  void (*destroy_)(Listener&) noexcept;
};

/// A listener and its callable, in one node.
template <class Callback>
class CallbackListener final : public Listener {
 public:
  template <class F>
  explicit CallbackListener(F&& callback)
      : Listener(&call, &discard, &destroy), callback_(std::forward<F>(callback)) {}

 private:
  static CallbackListener& of(Listener& listener) noexcept {
    return static_cast<CallbackListener&>(listener);
  }
  static void call(Listener& listener, SignalEvent& event) { (*of(listener).callback_)(event); }
  static void discard(Listener& listener) noexcept { of(listener).callback_.reset(); }
  static void destroy(Listener& listener) noexcept { destroy_node(of(listener)); }

  std::optional<Callback> callback_;
};

}  // namespace HEIST_NAMESPACE::detail
