// set_timeout: a callback after a delay, and the handle that clears it; sleep_for: a promise that
// fulfils after one.
#pragma once

#include <concepts>
#include <heist/abort_signal.hpp>
#include <heist/delay.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/timeout_task.hpp>
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// Handle of a timeout: clears it, or lets it be. One handle a timeout; moves, does not copy.
///
/// Spec:     [html#dom-cleartimeout].   Differs: the handle is an object instead of a number.
/// Thread:   the loop's driver. A handle may be moved to and destroyed on any thread.
/// Lifetime: destroying it leaves the timeout armed. It may outlive its loop; clear() must not be
///           called while another thread destroys that.
class HEIST_EXPORT Timeout {
 public:
  /// A handle of no timeout.
  Timeout() noexcept = default;
  Timeout(Timeout&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  Timeout& operator=(Timeout&& other) noexcept {
    Timeout moved(std::move(other));
    std::swap(task_, moved.task_);
    return *this;
  }
  ~Timeout() {
    if (task_ != nullptr) task_->drop_share();
  }

  /// Destroys the callback, so that it will not run, and returns true. It does nothing, and returns
  /// false, when there is no timeout, or when the callback ran, runs or was dropped.
  ///
  /// Thread: the loop's driver; any thread once the timeout is over.   Blocks: never.
  /// Errors: NotAllowedError from a thread that may not drive the loop now; the timeout stays.
  /// Cost:   O(1) whatever the delay; nothing atomic beyond one load.
  bool clear();

 private:
  friend struct detail::Access;
  explicit Timeout(detail::TimeoutTask& task) noexcept : task_(&task) {}

  detail::TimeoutTask* task_ = nullptr;
};

/// Runs `callback()` as a user-visible task of the current loop once the delay is over; exceptions
/// go to the error hook. Delays that end together keep their order.
///
/// Prefer it to a delayed post() where a timer is mostly cleared: its handle costs no signal, and
/// clear() is a few nanoseconds. Other threads cancel through a signal: PostTaskOptions.
///
/// Spec:   [html#dom-settimeout].   Differs: no clamping of nested or long delays.
/// Thread: within a task, listener or microtask of a loop.   Blocks: never.
/// Errors: std::bad_alloc; NotAllowedError elsewhere; std::invalid_argument for a callback that is
///         null or empty. On a closed loop the callback is dropped, and the handle has no timeout.
/// Cost:   O(1), one allocation, from a pool.
template <class Callback>
  requires std::invocable<std::decay_t<Callback>&>
Timeout set_timeout(Callback&& callback, Delay delay = {}) {
  static_assert(!detail::is_promise<std::invoke_result_t<std::decay_t<Callback>&>>,
                "a coroutine outlives the callback that set_timeout() destroys: use post_task");
  detail::check_callback(callback, "set_timeout");
  return detail::arm_timeout(*detail::make_node<detail::CallbackTimeout<std::decay_t<Callback>>>(
                                 std::forward<Callback>(callback)),
                             delay);
}

/// Fulfils when the delay is over, as a task of the current scheduler does; rejects with the
/// signal's reason when that aborts before. That task is user-visible, or has the priority of a
/// TaskSignal: whoever awaits the promise goes on behind it.
///
/// Spec:   contract DLY-1…5; a post_task of nothing with the signal and the delay, and as many
///         microtasks.
/// Thread: an agent (others: with a scheduler first).   Blocks: never.   Units: Delay.
/// Errors: NotAllowedError off an agent; std::bad_alloc. A closed loop, or its close: as post_task.
/// Cost:   one allocation, from a pool.
// NOLINTNEXTLINE(readability-const-return-type): see heist/detail/await_warning.hpp.
HEIST_EXPORT const Promise<void> sleep_for(Delay delay,
                                           const std::optional<AbortSignal>& signal = {});

/// The same, on the loop of `scheduler`. Thread: any.
// NOLINTNEXTLINE(readability-const-return-type): as above.
HEIST_EXPORT const Promise<void> sleep_for(const Scheduler& scheduler, Delay delay,
                                           const std::optional<AbortSignal>& signal = {});

}  // namespace HEIST_NAMESPACE
