// AsyncMutex: mutual exclusion of coroutines.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/lock_awaiter.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/semaphore_core.hpp>
#include <heist/detail/wait_awaiter.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE {

/// The lock of an AsyncMutex. It is given up when this object is destroyed.
///
/// Thread:   any, one at a time: a coroutine may unlock on another thread than it has locked.
/// Lifetime: may outlive the mutex.
class [[nodiscard]] MutexGuard {
 public:
  MutexGuard() noexcept = default;
  MutexGuard(MutexGuard&&) noexcept = default;
  MutexGuard& operator=(MutexGuard&& other) noexcept {
    MutexGuard moved(std::move(other));
    std::swap(core_, moved.core_);
    return *this;
  }
  ~MutexGuard() { unlock(); }

  /// Whether it holds the lock.
  explicit operator bool() const noexcept { return static_cast<bool>(core_); }
  /// Gives the lock to the most urgent one who waits, who goes on later and elsewhere.
  ///
  /// Blocks: never.   Cost: a few atomic operations.
  void unlock() noexcept {
    if (!core_) return;
    core_->lent().let_go();
    detail::SemaphoreCore::leave(std::move(core_));
  }

 private:
  friend struct detail::Access;
  explicit MutexGuard(detail::Ref<detail::SemaphoreCore> core) noexcept : core_(std::move(core)) {}

  detail::Ref<detail::SemaphoreCore> core_;
};

/// Mutual exclusion for coroutines, across their `co_await`s:
///
///     auto guard = co_await mutex.lock();
///     co_await write(file, record);   // nobody else writes meanwhile
///
/// Who waits gets the lock as AsyncSemaphore gives permits, and lends its priority meanwhile: until
/// the coroutine that holds the lock unlocks, its continuations have the priority of the most
/// urgent one who waits. So what is between the two does not delay the urgent one. That goes for
/// the coroutine that has called lock(), and not for one that has got the guard from it. The lock
/// is not recursive.
///
/// Spec:     contract PRM-1 to PRM-5, LND-1 to LND-6; docs/adr/0052-primitives.md,
///           docs/adr/0053-lent-priority.md.
/// Thread:   any.
/// Lifetime: when it is destroyed, whoever waits for it goes on with InvalidStateError.
class AsyncMutex {
 public:
  /// Errors: std::bad_alloc.
  AsyncMutex() : core_(detail::SemaphoreCore::make_mutex()) {}
  AsyncMutex(const AsyncMutex&) = delete;
  AsyncMutex& operator=(const AsyncMutex&) = delete;
  ~AsyncMutex() { core_->close(); }

  /// `co_await mutex.lock()` gives a MutexGuard. Thread and Errors: as AsyncSemaphore::acquire.
  ///
  /// Cost: two nodes for a coroutine's first lock, and a few atomic operations; a wait one node
  ///       more, and one for each signal. A coroutine whose priority is fixed at user-blocking does
  ///       without the first two, as nothing could raise it.
  auto lock(const std::optional<AbortSignal>& signal = {}) const {
    return detail::Wait<detail::SemaphoreCore, MutexGuard, detail::LockAwaiter<MutexGuard>>(
        *core_, detail::share_core(signal));
  }
  /// Takes the lock, if nobody has it or waits for it; otherwise gives an empty guard. Nothing is
  /// lent to who has the lock this way.
  ///
  /// Thread: any, lock-free.   Blocks: never.
  MutexGuard try_lock() const noexcept {
    if (!core_->try_take()) return {};
    return detail::Access::make<MutexGuard>(detail::Ref<detail::SemaphoreCore>::adopt(core_.get()));
  }

 private:
  const detail::Ref<detail::SemaphoreCore> core_;
};

}  // namespace HEIST_NAMESPACE
