// Promise<T>: a shared handle to a value, an error or an abort reason to come, which coroutines
// return; Resolver<T> settles one.
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <heist/detail/await_warning.hpp>
#include <heist/detail/coroutine.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_then.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

template <class T>
class Resolver;
template <class T>
struct PromiseWithResolver;

/// A value to come, as JavaScript's promise: a shared handle, which several may observe. Dropping
/// it cancels nothing.
///
/// Spec:     contract PRO-1…3, YLD-4.   Differs: a rejection is an exception or a plain value
///           (Reason).
/// Thread:   a handle is used by one thread at a time; copies may be on any thread.
/// Lifetime: a task's promise settles at the latest when its loop closes; one that waits for
/// another promise, when that settles (LIF-1).
template <class T>
class [[nodiscard]] Promise {
 public:
  using promise_type = detail::CoroutinePromise<T>;
  /// What it is a promise of.
  using value_type = T;
  /// What get() gives: the value by reference, as it stays with the shared state.
  using Reference = std::conditional_t<
      std::is_void_v<T>, void,
      std::conditional_t<std::is_reference_v<T>, T, std::add_lvalue_reference_t<const T>>>;

  /// A pending promise, and the handle that settles it.
  [[nodiscard]] static PromiseWithResolver<T> with_resolver();

  /// A promise fulfilled with the value (none for void).
  template <class... Args>
  static Promise resolved(Args&&... args);

  /// A promise rejected with the reason.
  static Promise rejected(Reason reason);
  /// The same as an abort or a close does it: nobody need observe the rejection (PRO-3).
  static Promise rejected_by_abort(Reason reason);

  /// For status(), settled() and reason() a moved-from handle counts as rejected, with
  /// InvalidStateError; in debug builds an assertion fails. Every other call through it throws
  /// std::invalid_argument, which names the call.
  [[nodiscard]] PromiseStatus status() const noexcept {
    assert(valid() && "Promise::status: the handle was moved from");
    return valid() ? state_->status() : PromiseStatus::rejected;
  }
  [[nodiscard]] bool settled() const noexcept {
    assert(valid() && "Promise::settled: the handle was moved from");
    return !valid() || state_->is_settled();
  }

  /// Waits for the outcome; gives the value, or throws the exception (a plain-value reason as
  /// `Aborted`).
  ///
  /// Thread: plain threads; on an agent when another thread settles it.   Blocks: yes, runs nothing
  /// meanwhile. A thread whose waits follow each other closely looks at the promise for up
  /// to 10 us before it sleeps.
  /// Errors: NotAllowedError when only agents that wait could settle it (CLU-5).   Lifetime: the
  /// reference is valid while a handle is; on a temporary handle copyable values are copied, others
  /// moved out.
  Reference get() const& { return wait(), reference(); }
  T get() const&& { return wait(), take(); }

  /// Waits at most that long; true when settled. Thread, Blocks, Errors: as get().
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout) const {
    check_valid("Promise::wait_for");
    return state_->wait_for(timeout);
  }

  /// The reason of a rejection; empty when not rejected. Counts as having observed it.
  [[nodiscard]] Reason reason() const noexcept {
    assert(valid() && "Promise::reason: the handle was moved from");
    if (!valid()) return detail::moved_from_reason();
    if (state_->status() != PromiseStatus::rejected) return {};
    state_->mark_handled();
    return state_->reason();
  }

  /// Runs `on_fulfilled(value)` as a microtask of the calling agent; the result is a promise of
  /// what it returns. A rejection passes through. `on_rejected(reason)`, when given, runs instead
  /// and recovers.
  ///
  /// The callback is given the value as get() gives it: by reference; on an rvalue, as
  /// `std::move(promise).then(f)` and `post_task(g).then(f)`, a move-only value is moved out, for
  /// it to keep.
  ///
  /// Thread: an agent (plain threads: then(scheduler, …)).   Blocks: never.   Cost: one allocation.
  /// Errors: NotAllowedError off an agent; std::invalid_argument for a handle that was moved from,
  /// and for a callback that is null or empty. A move-only value that was taken before rejects the
  /// result with InvalidStateError.
  template <class OnFulfilled>
  auto then(OnFulfilled&& on_fulfilled) const& {
    return then(std::forward<OnFulfilled>(on_fulfilled), detail::PassThrough{});
  }
  template <class OnFulfilled>
  auto then(OnFulfilled&& on_fulfilled) const&& {
    return std::move(*this).then(std::forward<OnFulfilled>(on_fulfilled), detail::PassThrough{});
  }
  template <class OnFulfilled, class OnRejected>
    requires(!std::same_as<std::remove_cvref_t<OnFulfilled>, Scheduler>)
  auto then(OnFulfilled&& on_fulfilled, OnRejected&& on_rejected) const& {
    return detail::checked_then<detail::ThenOf::lvalue>(
        *this, std::forward<OnFulfilled>(on_fulfilled), std::forward<OnRejected>(on_rejected),
        [](detail::Reaction& reaction) { reaction.bind_to_current_loop(); });
  }
  template <class OnFulfilled, class OnRejected>
    requires(!std::same_as<std::remove_cvref_t<OnFulfilled>, Scheduler>)
  auto then(OnFulfilled&& on_fulfilled, OnRejected&& on_rejected) const&& {
    return detail::checked_then<detail::ThenOf::rvalue>(
        *this, std::forward<OnFulfilled>(on_fulfilled), std::forward<OnRejected>(on_rejected),
        [](detail::Reaction& reaction) { reaction.bind_to_current_loop(); });
  }

  /// As then(), on the agent of `scheduler`. Thread: any.
  template <class OnFulfilled>
  auto then(const Scheduler& scheduler, OnFulfilled&& on_fulfilled) const& {
    return then(scheduler, std::forward<OnFulfilled>(on_fulfilled), detail::PassThrough{});
  }
  template <class OnFulfilled>
  auto then(const Scheduler& scheduler, OnFulfilled&& on_fulfilled) const&& {
    return std::move(*this).then(scheduler, std::forward<OnFulfilled>(on_fulfilled),
                                 detail::PassThrough{});
  }
  template <class OnFulfilled, class OnRejected>
  auto then(const Scheduler& scheduler, OnFulfilled&& on_fulfilled,
            OnRejected&& on_rejected) const& {
    return detail::checked_then<detail::ThenOf::lvalue>(
        *this, std::forward<OnFulfilled>(on_fulfilled), std::forward<OnRejected>(on_rejected),
        detail::binding_to(scheduler));
  }
  template <class OnFulfilled, class OnRejected>
  auto then(const Scheduler& scheduler, OnFulfilled&& on_fulfilled,
            OnRejected&& on_rejected) const&& {
    return detail::checked_then<detail::ThenOf::rvalue>(
        *this, std::forward<OnFulfilled>(on_fulfilled), std::forward<OnRejected>(on_rejected),
        detail::binding_to(scheduler));
  }

  /// Resumes the coroutine as a microtask of its agent; in a stealable task, as a continuation on
  /// any agent. On an rvalue a move-only value is moved out. With g++ up to 12 awaiting an rvalue
  /// warns (heist/detail/await_warning.hpp) unless it is const. Functions of the library that are
  /// harmless within a `co_await` expression return a const promise.
  detail::PromiseAwaiter<T> operator co_await() const& noexcept {
    return detail::PromiseAwaiter<T>(*this, false);
  }
  HEIST_WARNS_AWAIT_OF_UNNAMED
  detail::PromiseAwaiter<T> operator co_await() && noexcept {
    return detail::PromiseAwaiter<T>(std::move(*this), true);
  }
  detail::PromiseAwaiter<T> operator co_await() const&& noexcept {
    return detail::PromiseAwaiter<T>(*this, true);
  }

  /// `co_await promise.taken()` moves a move-only value out of a promise that has a name, as
  /// `co_await std::move(promise)` does; without the warning of g++ up to 12.
  // NOLINTNEXTLINE(readability-const-return-type): awaiting a const rvalue does not warn.
  [[nodiscard]] const Promise taken() & noexcept { return *this; }

  /// False once moved from.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(state_); }

 private:
  friend struct detail::Access;
  friend class detail::PromiseAwaiter<T>;

  explicit Promise(detail::Ref<detail::PromiseState<T>> state) noexcept
      : state_(std::move(state)) {}
  [[nodiscard]] detail::PromiseState<T>& state() const noexcept { return *state_; }
  [[nodiscard]] detail::Ref<detail::PromiseState<T>> into_state() && noexcept {
    return std::move(state_);
  }
  /// Errors: std::invalid_argument, naming the call, when it was moved from.
  void check_valid(const char* call) const {
    if (!valid()) [[unlikely]]
      detail::refuse_moved_from(call);
  }

  void wait() const {
    check_valid("Promise::get");
    state_->wait();
    state_->mark_handled();
  }
  void throw_if_rejected() const {
    if (state_->status() == PromiseStatus::rejected) state_->reason().rethrow();
  }
  Reference reference() const {
    throw_if_rejected();
    if constexpr (std::is_reference_v<T>) {
      return *state_->value();
    } else if constexpr (!std::is_void_v<T>) {
      return state_->value();
    }
  }
  T take() const {
    if constexpr (std::is_void_v<T> || std::is_reference_v<T> || detail::is_copyable<T>) {
      return reference();
    } else {
      throw_if_rejected();
      return state_->take_value();
    }
  }

  detail::Ref<detail::PromiseState<T>> state_;
};

/// The right to settle one promise; move-only. The first call wins, later ones are ignored. Dropped
/// unsettled, it rejects with InvalidStateError, so no promise is left pending.
///
/// Thread: any, one at a time.   Blocks: never.
template <class T>
class Resolver {
 public:
  Resolver(Resolver&&) noexcept = default;
  Resolver& operator=(Resolver&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Resolver() {
    if (state_) reject(detail::resolver_dropped_reason());
  }

  /// Fulfils with a value made of the arguments. Its constructor may call the resolver (this call
  /// wins), but not destroy it; when it throws, so does this, and the promise is still to settle.
  template <class... Args>
    requires(!std::is_reference_v<T> ||
             (sizeof...(Args) == 1 && (std::is_lvalue_reference_v<Args> && ...)))
  void resolve(Args&&... args) {
    if (!state_) return;
    // The state is taken out meanwhile, as the value's constructor may call this function again.
    detail::Ref<detail::PromiseState<T>> state = std::exchange(state_, {});
    try {
      if constexpr (std::is_reference_v<T>) {
        state->emplace(std::addressof(args)...);
      } else {
        state->emplace(std::forward<Args>(args)...);
      }
    } catch (...) {
      const Resolver other(std::exchange(state_, std::move(state)));  // if it gave us another
      throw;
    }
    state->settle_fulfilled();
  }
  void reject(Reason reason) noexcept {
    if (state_) std::exchange(state_, {})->settle_rejected(std::move(reason), false);
  }

 private:
  friend class Promise<T>;
  explicit Resolver(detail::Ref<detail::PromiseState<T>> state) noexcept
      : state_(std::move(state)) {}
  detail::Ref<detail::PromiseState<T>> state_;
};

/// Result of Promise<T>::with_resolver().
template <class T>
struct PromiseWithResolver {
  Promise<T> promise;    ///< pending
  Resolver<T> resolver;  ///< settles it
};

template <class T>
PromiseWithResolver<T> Promise<T>::with_resolver() {
  detail::PromiseState<T>* state = detail::make_node<detail::StandaloneState<T>>(2U);
  return {Promise(detail::Ref<detail::PromiseState<T>>::adopt(state)),
          Resolver<T>(detail::Ref<detail::PromiseState<T>>::adopt(state))};
}

template <class T>
template <class... Args>
Promise<T> Promise<T>::resolved(Args&&... args) {
  auto [promise, resolver] = with_resolver();
  resolver.resolve(std::forward<Args>(args)...);
  return promise;
}

template <class T>
Promise<T> Promise<T>::rejected_by_abort(Reason reason) {
  detail::PromiseState<T>* state = detail::make_node<detail::StandaloneState<T>>(1U);
  state->settle_rejected(std::move(reason), true);
  return Promise(detail::Ref<detail::PromiseState<T>>::adopt(state));
}

template <class T>
Promise<T> Promise<T>::rejected(Reason reason) {
  auto [promise, resolver] = with_resolver();
  resolver.reject(std::move(reason));
  return promise;
}

}  // namespace HEIST_NAMESPACE
