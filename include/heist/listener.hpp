// Listener: a callback in a signal's registry.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <heist/node_memory.hpp>
#include <heist/priority.hpp>
#include <heist/promise_handle.hpp>
#include <heist/scheduler_task.hpp>
#include <heist/sync.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace heist {

/// Whether a listener, called without or with its argument, returns a promise.
template <class Callback, class Argument>
inline constexpr bool listener_returns_promise = [] {
  if constexpr (std::invocable<Callback&>) {
    return is_promise<std::invoke_result_t<Callback&>>;
  } else {
    return is_promise<std::invoke_result_t<Callback&, Argument>>;
  }
}();

/// What a listener is told.
struct SignalEvent {
  SignalCore& signal;
  TaskPriority previous = TaskPriority::user_visible;  ///< of a priority change
  TaskPriority current = TaskPriority::user_visible;
};

/// A callback in a signal's registry, with the protocol of running it against removing it.
///
/// Roles   dispatcher: the one thread that delivers an event.  remover: the owner of the
///         Subscription.
/// States  idle -> running -> idle (or gone, when removal was asked for meanwhile); idle -> gone.
/// I1      The callback is destroyed by whoever makes it gone, which happens once.
/// Edge listener: finish -> remove, removed, claim, observe. What the callback did happened before
///   the removal returns, and before its next run. (Its first run sees it by the registry's edge.)
/// Edge listener: remove -> taken. What the remover did happened before the dispatcher destroys the
///   callback in its stead.
/// Progress  removal blocks only while another thread runs the callback; all else lock-free.
/// Proof   stress/listener_stress.cpp
class Listener : public Registration {
 public:
  /// Runs it if it is idle. Called by the dispatcher, in order.
  void dispatch(SignalEvent& event) noexcept;
  /// Ends it: its event will not come again.
  void retire() noexcept;
  /// The next listener of the event being delivered; the dispatcher's.
  Listener* dispatch_next = nullptr;

  /// Removes it; waits while another thread runs it.
  void remove() noexcept;
  [[nodiscard]] bool active() const noexcept;

  friend void retain(Listener& listener) noexcept;
  friend void release(Listener& listener) noexcept;

 protected:
  Listener(void (*call)(Listener&, SignalEvent&), void (*discard)(Listener&) noexcept,
           void (*destroy)(Listener&) noexcept) noexcept;
  ~Listener() = default;

 private:
  enum class Phase : std::uint32_t { idle, running, leaving, gone };
  void end() noexcept;
  static bool claim(Registration& registration) noexcept;
  static bool is_dead(const Registration& registration) noexcept;
  static void forget(Registration& registration) noexcept;
  static const Ops listener_ops;

  sync::atomic<Phase> phase_{Phase::idle};
  sync::atomic<const void*> runner_{nullptr};  ///< identity of the thread that runs it
  RefCount shares_{2};                         ///< the subscription's and the registry's
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
  static void call(Listener& listener, SignalEvent& event) {
    std::invoke(*of(listener).callback_, event);
  }
  static void discard(Listener& listener) noexcept { of(listener).callback_.reset(); }
  static void destroy(Listener& listener) noexcept { destroy_node(of(listener)); }

  std::optional<Callback> callback_;
};

}  // namespace heist
