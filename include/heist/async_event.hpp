// AsyncEvent: something that coroutines wait for until it has happened.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/detail/event_core.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/wait_awaiter.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <optional>

namespace HEIST_NAMESPACE {

/// An event that stays set until it is reset. Any number of coroutines wait for it; all that wait
/// when set() is called go on, even if it is reset at once.
///
/// Spec:     contract PRM-1 to PRM-6; docs/adr/0052-primitives.md.
/// Thread:   any.
/// Lifetime: when it is destroyed, whoever waits for it goes on with InvalidStateError.
class AsyncEvent {
 public:
  /// Errors: std::bad_alloc.
  explicit AsyncEvent(bool is_set = false) : core_(detail::EventCore::make(is_set)) {}
  AsyncEvent(const AsyncEvent&) = delete;
  AsyncEvent& operator=(const AsyncEvent&) = delete;
  ~AsyncEvent() { core_->close(); }

  /// `co_await event.wait()` goes on when the event is set. Thread, Errors, Cost: as
  /// AsyncSemaphore::acquire.
  auto wait(const std::optional<AbortSignal>& signal = {}) const {
    return detail::Wait<detail::EventCore, void>(*core_, detail::share_core(signal));
  }
  /// Sets the event: all who wait go on later, each at its priority.
  ///
  /// Thread: any, lock-free.   Blocks: never; no coroutine goes on within the call.
  void set() const noexcept { core_->set(); }
  /// From now on coroutines wait again.   Thread: any.
  void reset() const noexcept { core_->reset(); }
  [[nodiscard]] bool is_set() const noexcept { return core_->is_set(); }

 private:
  const detail::Ref<detail::EventCore> core_;
};

}  // namespace HEIST_NAMESPACE
