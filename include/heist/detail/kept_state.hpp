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

/// Awaitables that resume a coroutine with its state themselves.
template <class Awaitable>
inline constexpr bool restores_state = false;

/// Whoever resumes a coroutine out of an awaitable of another library does so within a state of its
/// own, or none. Here is the coroutine's (contract YLD-3), and the resumer's while the coroutine
/// runs.
///
/// Thread: whoever runs the coroutine.   Cost: nothing until such an awaitable suspends it; then
///         one allocation for the coroutine.
class HEIST_EXPORT KeptState {
 public:
  /// The coroutine is about to suspend: keeps its state.   Errors: std::bad_alloc.
  void keep();
  /// The coroutine goes on: with its state on the loop where that was kept, with none on any other.
  void enter() noexcept;
  /// The coroutine suspends or ends: gives its resumer's state back. Returns false when the resumer
  /// had it already.
  bool leave() noexcept { return kept_ && leave_entered(); }

 private:
  struct Kept;
  friend void discard(Kept& kept) noexcept;
  bool leave_entered() noexcept;

  Owner<Kept> kept_;
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

/// Lets the promise of a coroutine, if it is ours, give its resumer's state back.
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
      state_.enter();  // it has not suspended
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
