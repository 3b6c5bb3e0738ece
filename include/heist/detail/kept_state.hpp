// KeptState: a coroutine's scheduling state across awaitables that are not the library's.
#pragma once

#include <coroutine>
#include <heist/detail/export.hpp>
#include <heist/detail/owner.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Awaitables that resume a coroutine with its own state; they need no KeptState.
template <class Awaitable>
inline constexpr bool restores_state = false;

/// What a KeptState keeps. Only the library knows it.
struct KeptScheduling;
HEIST_EXPORT void discard(KeptScheduling& kept) noexcept;

/// An awaitable of another library resumes a coroutine within the scheduling state of whoever
/// resumes it, or within none. So this object keeps the coroutine's state (contract YLD-3) while
/// the coroutine is suspended, and the resumer's state while the coroutine runs.
///
/// Thread: whoever runs the coroutine.   Cost: nothing until such an awaitable suspends it; then
///         one allocation for the coroutine.
class HEIST_EXPORT KeptState {
 public:
  /// Keeps the state of the coroutine, which is about to suspend.   Errors: std::bad_alloc.
  void keep();
  /// Called when the coroutine goes on. It gets its state back on the loop or in the cluster where
  /// that was kept, and no state on any other loop.
  void enter() noexcept;
  /// Called when the coroutine suspends or ends: gives its resumer's state back. Returns false if
  /// the resumer had it already.
  bool leave() noexcept { return kept_ && leave_entered(); }

  /// Called while the coroutine runs within a task: goes on with this state, until it suspends or
  /// ends.   Errors: std::bad_alloc, nothing changed.
  void replace(const SchedulingState& state);
  /// The priority source of the state that was kept last; null if there is none.
  [[nodiscard]] SignalCore* priority_source() const noexcept;

 private:
  bool leave_entered() noexcept;

  Owner<KeptScheduling> kept_;
};

/// The coroutine's kept state, or null for a coroutine type that is not heist's.
template <class Awaiting>
KeptState* kept_state_of(std::coroutine_handle<Awaiting> coroutine) noexcept {
  if constexpr (requires { coroutine.promise().kept_state(); }) {
    return &coroutine.promise().kept_state();
  } else {
    return nullptr;
  }
}

/// Gives the resumer's state back if the coroutine is one of heist's.
template <class Awaiting>
void leave_kept_state(std::coroutine_handle<Awaiting> coroutine) noexcept {
  if (KeptState* kept = kept_state_of(coroutine)) kept->leave();
}

template <class Awaitable>
decltype(auto) awaiter_of(Awaitable&& awaitable) {
  if constexpr (requires { std::forward<Awaitable>(awaitable).operator co_await(); }) {
    return std::forward<Awaitable>(awaitable).operator co_await();
  } else if constexpr (requires { operator co_await(std::forward<Awaitable>(awaitable)); }) {
    return operator co_await(std::forward<Awaitable>(awaitable));
  } else {
    return std::forward<Awaitable>(awaitable);
  }
}

/// An awaiter of another library, with the coroutine's state kept across its suspension.
template <class Awaitable>
class StateKeepingAwaiter {
 public:
  StateKeepingAwaiter(KeptState& state, Awaitable&& awaitable)
      : state_(state), awaiter_(awaiter_of(std::forward<Awaitable>(awaitable))) {}

  bool await_ready() { return static_cast<bool>(awaiter_.await_ready()); }
  template <class Awaiting>
  auto await_suspend(std::coroutine_handle<Awaiting> coroutine) {
    state_.keep();
    suspended_ = true;
    state_.leave();
    try {
      return awaiter_.await_suspend(coroutine);
    } catch (...) {
      state_.enter();  // the coroutine has not suspended
      throw;
    }
  }
  decltype(auto) await_resume() {
    if (suspended_) state_.enter();
    return awaiter_.await_resume();
  }

 private:
  KeptState& state_;
  decltype(awaiter_of(std::declval<Awaitable>())) awaiter_;
  bool suspended_ = false;
};

}  // namespace HEIST_NAMESPACE::detail
