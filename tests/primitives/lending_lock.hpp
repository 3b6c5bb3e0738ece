// LendingLock: an AsyncMutex that keeps its holder's guard, so that anybody can unlock it.
#pragma once

#include <coroutine>
#include <heist/abort_signal.hpp>
#include <heist/async_mutex.hpp>
#include <optional>

namespace heist::support {

/// Thread: any.
class LendingLock {
 public:
  struct Awaiter {
    LendingLock& lock;
    detail::LockAwaiter<MutexGuard> inner;

    [[nodiscard]] bool await_ready() const noexcept { return inner.await_ready(); }
    template <class Awaiting>
    bool await_suspend(std::coroutine_handle<Awaiting> coroutine) {
      return inner.await_suspend(coroutine);
    }
    void await_resume() { lock.guard_ = inner.await_resume(); }
  };
  struct Locking {
    LendingLock& lock;
    std::optional<AbortSignal> signal;

    Awaiter operator co_await() && { return {lock, lock.mutex_->lock(signal).operator co_await()}; }
  };

  Locking lock(const std::optional<AbortSignal>& signal = {}) { return {*this, signal}; }
  void unlock() { guard_.unlock(); }
  /// All calls that wait are rejected.
  void give_up_all() { mutex_.reset(); }

 private:
  std::optional<AsyncMutex> mutex_{std::in_place};
  MutexGuard guard_;
};

}  // namespace heist::support

template <>
inline constexpr bool heist::detail::restores_state<heist::support::LendingLock::Locking> = true;
