// WaitAwaiter: how a coroutine awaits a permit, a lock, an event or a message.
#pragma once

#include <coroutine>
#include <heist/detail/access.hpp>
#include <heist/detail/coroutine.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/waiter.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// A waiter, and the promise that its coroutine awaits. The promise holds what was granted until
/// the coroutine takes it. If a close destroys the coroutine instead, that ends with the promise:
/// a permit goes to the next one who waits.
template <class Core, class Result>
class WaitState : public PromiseState<Result>, public Waiter {
 public:
  explicit WaitState(Core& core)
      : PromiseState<Result>(&destroy, 2),
        Waiter(core, *this, &fulfil),
        core_(Ref<Core>::share(&core)) {}
  ~WaitState() = default;

 protected:
  using Destroy = void (*)(PromiseStateBase&) noexcept;
  /// For a state that has more, and is destroyed with that.
  WaitState(Core& core, Destroy destroy_all)
      : PromiseState<Result>(destroy_all, 2),
        Waiter(core, *this, &fulfil),
        core_(Ref<Core>::share(&core)) {}

 private:
  static void destroy(PromiseStateBase& base) noexcept {
    destroy_node(static_cast<WaitState&>(base));
  }
  static void fulfil(Waiter& waiter) noexcept {
    auto& self = static_cast<WaitState&>(waiter);
    if constexpr (std::is_void_v<Result>) {
      self.emplace();
    } else {
      self.emplace(Access::make<Result>(std::move(self.core_)));
    }
    self.settle_fulfilled();
  }

  Ref<Core> core_;
};

/// The signal of a call's options, or null.
template <class Signal>
[[nodiscard]] Ref<SignalCore> share_core(const std::optional<Signal>& signal) noexcept {
  return signal ? Ref<SignalCore>::share(&Access::core(*signal)) : Ref<SignalCore>();
}

/// Takes what there is without a wait, or else waits in the core's line.
template <class Core, class Result>
class WaitAwaiter {
 public:
  WaitAwaiter(Core& core, Ref<SignalCore> signal) noexcept
      : core_(core), signal_(std::move(signal)) {}
  WaitAwaiter(const WaitAwaiter&) = delete;
  WaitAwaiter& operator=(const WaitAwaiter&) = delete;
  ~WaitAwaiter() {
    if (state_ != nullptr) state_->end_watch();
  }

  [[nodiscard]] bool await_ready() noexcept { return core_.try_take(); }
  template <class Awaiting>
  void await_suspend(std::coroutine_handle<Awaiting> coroutine) {
    wait_with(*make_node<State>(core_), coroutine);
  }
  Result await_resume() {
    if (promise_) return promise_->await_resume();
    if constexpr (!std::is_void_v<Result>) {
      return Access::make<Result>(Ref<Core>::adopt(&core_));
    }
  }

 protected:
  using State = WaitState<Core, Result>;

  [[nodiscard]] Core& core() const noexcept { return core_; }
  template <class Awaiting>
  void wait_with(State& state, std::coroutine_handle<Awaiting> coroutine) {
    promise_.emplace(Access::make<Promise<Result>>(Ref<PromiseState<Result>>::adopt(&state)), true);
    state_ = &state;
    core_.wait(state);
    try {
      state.watch(signal_.get());
      promise_->await_suspend(coroutine);
    } catch (...) {
      state.abort(Reason::of_current_exception());
      throw;
    }
  }

 private:
  Core& core_;
  Ref<SignalCore> signal_;  ///< of the call, or null
  State* state_ = nullptr;  ///< lives as long as promise_
  std::optional<PromiseAwaiter<Result>> promise_;
};

/// What `acquire()` and the like return, to be awaited at once. It is no awaiter itself, because
/// g++ 12 copies those.
template <class Core, class Result, class Awaiter = WaitAwaiter<Core, Result>>
class [[nodiscard("nothing is taken before it is awaited")]] Wait {
 public:
  Wait(Core& core, Ref<SignalCore> signal) noexcept : core_(core), signal_(std::move(signal)) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() = default;

  Awaiter operator co_await() && noexcept { return Awaiter(core_, std::move(signal_)); }

 private:
  Core& core_;
  Ref<SignalCore> signal_;
};

template <class Core, class Result, class Awaiter>
inline constexpr bool restores_state<Wait<Core, Result, Awaiter>> = true;

}  // namespace HEIST_NAMESPACE::detail
