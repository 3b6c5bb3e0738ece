// AsyncSemaphore: permits that coroutines wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/abort_signal.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/semaphore_core.hpp>
#include <heist/detail/wait_awaiter.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE {

/// A permit of an AsyncSemaphore. It is given back when this object is destroyed.
///
/// Thread:   any; one at a time.   Lifetime: may outlive the semaphore.
class [[nodiscard]] Permit {
 public:
  Permit() noexcept = default;
  Permit(Permit&&) noexcept = default;
  Permit& operator=(Permit&& other) noexcept {
    Permit moved(std::move(other));
    std::swap(core_, moved.core_);
    return *this;
  }
  ~Permit() { release(); }

  /// Whether it is one; an empty one was released, kept or moved from.
  explicit operator bool() const noexcept { return static_cast<bool>(core_); }
  /// Gives the permit back now: to the most urgent one who waits, who goes on later and elsewhere.
  ///
  /// Blocks: never.   Cost: one atomic operation when nobody waits.
  void release() noexcept {
    if (core_) detail::SemaphoreCore::leave(std::move(core_));
  }
  /// Leaves the permit taken. AsyncSemaphore::release gives it back.
  void keep() noexcept { core_.reset(); }

 private:
  friend struct detail::Access;
  explicit Permit(detail::Ref<detail::SemaphoreCore> core) noexcept : core_(std::move(core)) {}

  detail::Ref<detail::SemaphoreCore> core_;
};

/// A number of permits. A coroutine that finds none waits for one, and others run meanwhile:
///
///     AsyncSemaphore connections(8);
///     auto permit = co_await connections.acquire();   // given back at the end of the block
///
/// Who waits gets a permit by priority, then in the order of the waits. The priority is that with
/// which the coroutine would go on: its task's, or what its TaskSignal has at the time. Nobody
/// takes a permit while somebody waits for it. The coroutine goes on where it was, on its own loop
/// or in its cluster.
///
/// Spec:     contract PRM-1 to PRM-5; docs/adr/0052-primitives.md.
/// Thread:   any.
/// Lifetime: when it is destroyed, whoever waits for it goes on with InvalidStateError.
class AsyncSemaphore {
 public:
  /// Errors: std::invalid_argument for more than 2^30 - 1 permits; std::bad_alloc.
  explicit AsyncSemaphore(std::size_t permits) : core_(detail::SemaphoreCore::make(permits)) {}
  AsyncSemaphore(const AsyncSemaphore&) = delete;
  AsyncSemaphore& operator=(const AsyncSemaphore&) = delete;
  ~AsyncSemaphore() { core_->close(); }

  /// `co_await semaphore.acquire()` gives a Permit. The wait ends with the reason when the awaiting
  /// task's own signal aborts, or the given one; who need not wait is not asked about signals.
  ///
  /// Thread: an agent; elsewhere it throws NotAllowedError when it would have to wait.
  /// Errors: the reason of an abort; InvalidStateError when the semaphore is destroyed meanwhile;
  ///         std::bad_alloc.
  /// Cost:   one atomic operation when a permit is free; otherwise one node, and one more for each
  ///         signal.
  auto acquire(const std::optional<AbortSignal>& signal = {}) const {
    return detail::Wait<detail::SemaphoreCore, Permit>(*core_, detail::share_core(signal));
  }
  /// Takes a permit, if one is free and nobody waits for it; otherwise gives an empty one.
  ///
  /// Thread: any, lock-free.   Blocks: never.
  Permit try_acquire() const noexcept {
    if (!core_->try_take()) return {};
    return detail::Access::make<Permit>(detail::Ref<detail::SemaphoreCore>::adopt(core_.get()));
  }
  /// Adds permits, for those that Permit::keep() has left, or new ones.
  ///
  /// Thread: any, lock-free.   Blocks: never; no coroutine goes on within the call.
  /// Errors: std::overflow_error when more than 2^30 - 1 would be free; then none is added.
  void release(std::uint32_t count = 1) const { core_->add_permits(count); }
  /// How many permits are free at this moment.
  [[nodiscard]] std::uint32_t available() const noexcept { return core_->count_free(); }

 private:
  const detail::Ref<detail::SemaphoreCore> core_;
};

}  // namespace HEIST_NAMESPACE
