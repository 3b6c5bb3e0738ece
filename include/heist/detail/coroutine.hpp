// Coroutines that return Promise<T>. They start eagerly. After a co_await they go on where they
// awaited: on the same agent, or in the same cluster.
#pragma once

#include <coroutine>
#include <exception>
#include <heist/detail/access.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/suspended_coroutine.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

template <class T>
inline constexpr bool restores_state<Promise<T>> = true;

/// Whether a `co_await` takes it as it is.
template <class Awaitable>
inline constexpr bool is_awaitable =
    requires(Awaitable&& of) { std::forward<Awaitable>(of).operator co_await(); } ||
    requires(Awaitable&& of) { operator co_await(std::forward<Awaitable>(of)); } ||
    requires(Awaitable&& of) { of.await_ready(); };

/// What a `co_await` takes in the place of something that is not awaitable: a specialisation has
/// `of(Awaitable&&)`, which gives an awaiter that restores the coroutine's state.
template <class Awaitable>
struct AwaitedAs;

/// The part that both kinds of coroutine promise (value, void) share. The state is separate from
/// the frame, so the frame and its parameters are destroyed when the body ends, even if the promise
/// is still held.
template <class T>
class CoroutinePromiseBase {
 public:
  CoroutinePromiseBase() : state_(make_node<StandaloneState<T>>(2U)) {
    state_->set_home(current_home());
  }
  CoroutinePromiseBase(const CoroutinePromiseBase&) = delete;
  CoroutinePromiseBase& operator=(const CoroutinePromiseBase&) = delete;
  /// A frame that is destroyed before its end, as its loop has closed, rejects its promise (LIF-1).
  ~CoroutinePromiseBase() {
    if (state_ != nullptr) reject(*state_, loop_closed_reason());
  }
  /// The library ends a coroutine this way: it destroys the whole frame, its parameters included,
  /// and rejects the promise afterwards.
  static void destroy_frame(std::coroutine_handle<> handle, CoroutinePromiseBase& self,
                            const Reason& why) noexcept {
    StandaloneState<T>* const state = std::exchange(self.state_, nullptr);
    handle.destroy();
    reject(*state, why);
  }

  Promise<T> get_return_object() noexcept {
    return Access::make<Promise<T>>(Ref<PromiseState<T>>::adopt(state_));
  }
  std::suspend_never initial_suspend() noexcept { return {}; }
  /// Settles the promise after the frame is gone, with the body's locals and the parameters.
  auto final_suspend() noexcept { return End{}; }
  void unhandled_exception() noexcept {
    error_ = Reason::of_current_exception();
    if (!error_) error_ = no_reason_given();
  }

  /// The coroutine gets the state of its `co_await` back even if an awaitable of another library
  /// resumes it (YLD-3).
  template <class Awaitable>
  decltype(auto) await_transform(Awaitable&& awaitable) {
    if constexpr (restores_state<std::remove_cvref_t<Awaitable>>) {
      return std::forward<Awaitable>(awaitable);
    } else if constexpr (requires {
                           AwaitedAs<Awaitable>::of(std::forward<Awaitable>(awaitable));
                         }) {
      return AwaitedAs<Awaitable>::of(std::forward<Awaitable>(awaitable));
    } else {
      return StateKeepingAwaiter<Awaitable>(kept_state_, std::forward<Awaitable>(awaitable));
    }
  }
  [[nodiscard]] KeptState& kept_state() noexcept { return kept_state_; }

  static void* operator new(std::size_t bytes) { return allocate_node(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    release_node(frame, bytes);
  }

 protected:
  PromiseState<T>& state() noexcept { return *state_; }

 private:
  static void reject(StandaloneState<T>& state, const Reason& why) noexcept {
    state.settle_rejected(why, true);
    release(state);
  }
  struct End {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Derived>
    void await_suspend(std::coroutine_handle<Derived> frame) const noexcept {
      CoroutinePromiseBase& self = frame.promise();
      self.kept_state_.leave();
      StandaloneState<T>* const state = std::exchange(self.state_, nullptr);
      Reason error = std::move(self.error_);
      frame.destroy();  // destroys this object as well: only the locals are left
      if (error) {
        state->settle_rejected(std::move(error), false);
      } else {
        state->settle_fulfilled();
      }
      release(*state);
    }
    void await_resume() const noexcept {}
  };

  StandaloneState<T>* state_;  ///< null once the frame has ended
  Reason error_;
  KeptState kept_state_;
};

template <class T>
class CoroutinePromise : public CoroutinePromiseBase<T> {
 public:
  template <class Value>
  void return_value(Value&& value) {
    if constexpr (std::is_reference_v<T>) {
      this->state().emplace(std::addressof(value));
    } else {
      this->state().emplace(std::forward<Value>(value));
    }
  }
};

template <>
class CoroutinePromise<void> : public CoroutinePromiseBase<void> {
 public:
  void return_void() { this->state().emplace(); }
};

/// Awaits a promise. The coroutine resumes as a microtask of the agent that it runs on; in a
/// stealable task it resumes as a continuation on any agent (YLD-4). It resumes with the scheduling
/// state of the `co_await` (YLD-3). All this holds for a promise that is settled already, too.
///
/// On a thread without an agent only a settled promise can be awaited; otherwise it throws
/// NotAllowedError.
template <class T>
class PromiseAwaiter : private Reaction {
 public:
  PromiseAwaiter(Promise<T> promise, bool may_take) noexcept
      : Reaction(table), promise_(std::move(promise)), may_take_(may_take) {}

  [[nodiscard]] bool await_ready() const noexcept {
    return current_loop() == nullptr && promise_.valid() && promise_.settled();
  }

  template <class Awaiting>
  void await_suspend(std::coroutine_handle<Awaiting> coroutine) {
    Access::check_valid(promise_, "co_await of a Promise");
    bind_to_current_loop();
    coroutine_ = SuspendedCoroutine(coroutine);
    leave_kept_state(coroutine);
    Access::state(promise_).attach(*this);
  }

  T await_resume() {
    Access::state(promise_).mark_handled();
    if constexpr (std::is_void_v<T> || std::is_reference_v<T> || is_copyable<T>) {
      return promise_.reference();
    } else {
      if (!may_take_)
        throw InvalidStateError("a move-only value must be awaited through an rvalue");
      return promise_.take();
    }
  }

 private:
  static PromiseAwaiter& of(LoopNode& node) noexcept {
    return static_cast<PromiseAwaiter&>(static_cast<Reaction&>(node));
  }
  static void resume(LoopNode& node, LoopCore& /*loop*/) noexcept { of(node).coroutine_.resume(); }
  static void destroy(LoopNode& node) noexcept {
    of(node).coroutine_.destroy(of(node).captured.state());
  }
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, &resume, &destroy};

  Promise<T> promise_;
  SuspendedCoroutine coroutine_;
  bool may_take_;
};

}  // namespace HEIST_NAMESPACE::detail
