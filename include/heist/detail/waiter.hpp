// Waiter: a coroutine that waits for a semaphore, a mutex, an event or a channel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

class Lender;
class WaitCore;

/// The part of a wait that does not depend on what is waited for. It is in one node with the
/// promise that the coroutine awaits, and shares that promise's count.
///
/// Roles   coroutine: the thread that begins the wait, and the one that ends it.  ender: the server
///         of the line, which grants or refuses, or an aborter.
/// States  waiting -> claimed, once. Whoever claims it settles its promise.
/// I1      A waiter that is claimed by an aborter still has its place in the line, until the server
///         takes it out.
/// I2      The coroutine watches signals after it has joined the line, so that an aborter meets
///         only waiters in the line.
/// Lifetime  shares of the promise: the coroutine's, the line's, and one for each watched signal.
///         The server may take an aborted waiter out after the coroutine and its loop have gone. So
///         enders never ask the scheduler in `state_`; a waiter keeps that one's ceiling.
/// Proof   stress/model/models/channels.cpp, primitives.cpp; stress/channel_stress.cpp
class HEIST_EXPORT Waiter {
 public:
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // What the coroutine calls.

  /// Ends the wait when the coroutine's own signal aborts, or the given one, which may be null. If
  /// one of them is aborted, the wait ends now.   Errors: std::bad_alloc.
  void watch(SignalCore* signal);
  /// What the coroutine saw before it joined, for cores that compare it.
  std::uint64_t seen = 0;
  /// What it lends while it waits for a lock; null otherwise. It is the ender's once the waiter is
  /// claimed.
  Lender* lender = nullptr;
  /// No signal ends the wait from here on. It does not wait for one that is about to.
  void end_watch() noexcept;

  // What enders call.

  [[nodiscard]] bool try_claim() noexcept {
    // relaxed: the promise carries what its settler has done.
    return !claimed_.exchange(true, sync::relaxed);
  }
  /// Rejects the wait, unless it has ended, and has the line forget it.
  void abort(const Reason& reason) noexcept;
  /// Settles a wait that the server has claimed.
  void grant() noexcept { fulfil_(*this); }
  void refuse(const Reason& reason) noexcept { promise_.settle_rejected(reason, true); }

  friend void retain(Waiter& waiter) noexcept { retain(waiter.promise_); }
  friend void release(Waiter& waiter) noexcept { release(waiter.promise_); }

 protected:
  /// Notes the scheduling state of the running coroutine. `fulfil` settles the promise.
  /// Errors: NotAllowedError when no loop runs on this thread.
  Waiter(WaitCore& core, PromiseStateBase& promise, void (*fulfil)(Waiter&) noexcept);
  ~Waiter() = default;

 private:
  friend class WaitLine;
  friend class WaitCore;
  friend class WaiterList;

  struct Watch {
    Ref<Listener> listener;
    Ref<SignalCore> signal;
  };

  void watch(Watch& watch, SignalCore& signal);
  /// The priority with which the coroutine would go on now.
  [[nodiscard]] TaskPriority priority() const noexcept;
  [[nodiscard]] bool follows_signal() const noexcept;

  WaitCore& core_;
  PromiseStateBase& promise_;
  void (*const fulfil_)(Waiter&) noexcept;
  CapturedState state_;
  std::array<Watch, 2> watches_;                        ///< the coroutine's
  TaskPriority ceiling_ = TaskPriority::user_blocking;  ///< of the coroutine's scheduler (SEC-1)
  sync::atomic<bool> claimed_{false};

  // The following belong to the line.
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
  Waiter* next_aborted_ = nullptr;  ///< an aborter's, until the server has it
  std::uint64_t age_ = 0;
  bool is_listed_ = false;
};

/// A list of waiters, oldest first.
class WaiterList {
 public:
  [[nodiscard]] Waiter* first() const noexcept { return first_; }
  /// The oldest one that is younger than `age`; null if there is none.
  [[nodiscard]] Waiter* first_since(std::uint64_t age) const noexcept {
    Waiter* found = nullptr;
    for (Waiter* at = last_; at != nullptr && at->age_ > age; at = at->previous_) found = at;
    return found;
  }
  void add(Waiter& waiter) noexcept {
    waiter.next_ = nullptr;
    waiter.previous_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = &waiter;
    last_ = &waiter;
  }
  void remove(Waiter& waiter) noexcept {
    (waiter.previous_ != nullptr ? waiter.previous_->next_ : first_) = waiter.next_;
    (waiter.next_ != nullptr ? waiter.next_->previous_ : last_) = waiter.previous_;
  }
  [[nodiscard]] Waiter* take_first() noexcept {
    Waiter* const waiter = first_;
    if (waiter != nullptr) remove(*waiter);
    return waiter;
  }
  [[nodiscard]] static Waiter* after(const Waiter& waiter) noexcept { return waiter.next_; }

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
