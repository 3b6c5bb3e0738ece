// LockAwaiter: how a coroutine awaits a lock, and lends its priority meanwhile.
#pragma once

#include <coroutine>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/lent_lock.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/semaphore_core.hpp>
#include <heist/detail/wait_awaiter.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// A wait for a lock, with what it lends. Enders may use that when the coroutine's frame is gone.
template <class Guard>
class LockState final : public WaitState<SemaphoreCore, Guard> {
 public:
  LockState(SemaphoreCore& core, Lender&& of_call)
      : WaitState<SemaphoreCore, Guard>(core, &destroy), own_lender_(std::move(of_call)) {
    this->lender = &own_lender_;
  }
  ~LockState() = default;

 private:
  static void destroy(PromiseStateBase& base) noexcept {
    destroy_node(static_cast<LockState&>(base));
  }

  Lender own_lender_;
};

/// Takes the lock without a wait, or else waits in its line.
template <class Guard>
class LockAwaiter : public WaitAwaiter<SemaphoreCore, Guard> {
  using Base = WaitAwaiter<SemaphoreCore, Guard>;

 public:
  using Base::Base;

  /// What is lent to a holder goes to its coroutine, so that one has to be known.
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Awaiting>
  bool await_suspend(std::coroutine_handle<Awaiting> coroutine) {
    lender_.enter(kept_state_of(coroutine));
    if (this->core().try_take()) {
      this->core().lent().hold(lender_);
      return false;
    }
    try {
      auto& state = *make_node<LockState<Guard>>(this->core(), std::move(lender_));
      used_ = state.lender;
      this->wait_with(state, coroutine);
    } catch (...) {
      used_->leave();
      throw;
    }
    return true;  // this object may be gone
  }
  Guard await_resume() {
    try {
      return Base::await_resume();
    } catch (...) {
      used_->leave();
      throw;
    }
  }

 private:
  Lender lender_;
  Lender* used_ = &lender_;  ///< that, or the one of the wait
};

}  // namespace HEIST_NAMESPACE::detail
