// LendingLock: a lock that lends, and is otherwise as simple as can be.
#pragma once

#include <coroutine>
#include <deque>
#include <heist/detail/coroutine.hpp>
#include <heist/detail/lent_lock.hpp>
#include <heist/promise.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace heist::support {

using namespace detail;

/// It is given to those who wait in the order in which they came.
///
/// Thread: any.
class LendingLock {
 public:
  /// A call that locks. If it waits, another one may reject it.
  class Locking {
   public:
    explicit Locking(LendingLock& lock) : lock_(lock) {}
    Locking(const Locking&) = delete;
    Locking& operator=(const Locking&) = delete;
    ~Locking() { lock_.forget(*this); }

    class Awaiter {
     public:
      explicit Awaiter(Locking& call) noexcept : call_(call) {}
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      template <class Awaiting>
      bool await_suspend(std::coroutine_handle<Awaiting> coroutine) const {
        call_.lender_.enter(kept_state_of(coroutine));
        if (!call_.lock_.lock_or_wait(call_)) return false;
        call_.waiting_->await_suspend(coroutine);
        return true;
      }
      void await_resume() const {
        if (!call_.waiting_) return;
        try {
          call_.waiting_->await_resume();
        } catch (...) {
          call_.lender_.leave();
          throw;
        }
      }

     private:
      Locking& call_;
    };
    Awaiter operator co_await() && noexcept { return Awaiter(*this); }

   private:
    friend class LendingLock;
    LendingLock& lock_;
    Lender lender_;
    std::optional<Resolver<void>> resolver_;
    std::optional<PromiseAwaiter<void>> waiting_;
  };

  Locking lock() { return Locking(*this); }
  /// The call that has waited for longest is rejected.
  void give_up_first() {
    std::unique_lock guard(mutex_);
    Locking& first = *calls_.front();
    auto resolver = take(first);
    guard.unlock();
    resolver.reject(Reason(std::string("given up")));
  }
  /// Called when nobody else uses the lock: all calls that wait are rejected.
  void give_up_all() {
    while (!calls_.empty()) give_up_first();
  }
  void unlock() {
    std::unique_lock guard(mutex_);
    lent_.let_go();
    is_locked_ = !calls_.empty();
    if (!is_locked_) return;
    Locking& next = *calls_.front();
    auto resolver = take(next);
    lent_.hold(next.lender_);
    guard.unlock();
    resolver.resolve();
  }

 private:
  bool lock_or_wait(Locking& call) {
    const std::lock_guard guard(mutex_);
    if (!std::exchange(is_locked_, true)) {
      lent_.hold(call.lender_);
      return false;
    }
    auto [promise, resolver] = Promise<void>::with_resolver();
    call.waiting_.emplace(std::move(promise), true);
    call.resolver_ = std::move(resolver);
    lent_.wait(call.lender_);
    calls_.push_back(&call);
    return true;
  }
  Resolver<void> take(Locking& call) {
    lent_.stop_waiting(call.lender_);
    std::erase(calls_, &call);
    return std::move(*call.resolver_);
  }
  void forget(Locking& call) {
    const std::lock_guard guard(mutex_);
    lent_.stop_waiting(call.lender_);
    std::erase(calls_, &call);
  }

  std::mutex mutex_;
  bool is_locked_ = false;
  std::deque<Locking*> calls_;
  LentLock lent_;
};

}  // namespace heist::support

template <>
inline constexpr bool heist::detail::restores_state<heist::support::LendingLock::Locking> = true;
