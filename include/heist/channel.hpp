// Channel: values that coroutines hand to each other, a bounded number at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <heist/abort_signal.hpp>
#include <heist/detail/channel_awaiter.hpp>
#include <heist/detail/channel_core.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/wait_awaiter.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// A queue of at most `capacity` values, for any number of senders and receivers. Who finds no room
/// in it, or no value, waits, and others run meanwhile:
///
///     Channel<Page> pages(16);
///     if (!co_await pages.send(std::move(page))) co_return;      // one coroutine, or several
///     while (auto page = co_await pages.receive()) show(*page);  // another one, or several
///     pages.close();                                             // after the last page
///
/// Values are received in the order in which they were sent. Who waits, on either side, goes on by
/// priority, then in the order of the waits, as AsyncSemaphore has it.
///
/// Spec:     contract CHN-1 to CHN-6; docs/adr/0055-channels.md.
/// Thread:   any.
/// Lifetime: when it is destroyed, whoever waits goes on with InvalidStateError, and the values in
///           it are destroyed. It outlives the calls of others: the send of a value that was
///           received may not have returned yet.
template <class T>
class Channel {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>,
                "a channel has values");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "a value that is on its way cannot go back: moving it must not throw");

 public:
  /// Errors: std::invalid_argument for a capacity of 0, or more than 2^19; std::bad_alloc.
  explicit Channel(std::size_t capacity)
      : state_(detail::Ref<detail::ChannelState<T>>::adopt(
            detail::make_node<detail::ChannelState<T>>(capacity))) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    state_->close_owner();
    close();
    while (try_receive()) {
    }
  }

  /// `co_await channel.send(std::move(value))` waits until there is room, and gives true; false
  /// when the channel is closed. The value is moved from only when it is sent: otherwise, and when
  /// a wait ends with an exception, the caller has it still.
  ///
  /// Thread, Errors: as AsyncSemaphore::acquire; std::length_error when 2^22 wait already.
  /// Cost:   two atomic operations when there is room; a wait as AsyncSemaphore::acquire.
  auto send(T&& value, const std::optional<AbortSignal>& signal = {}) const {
    return detail::Send<T, T&>(state_->senders(), detail::share_core(signal), value);
  }
  /// The same with a copy.
  auto send(const T& value, const std::optional<AbortSignal>& signal = {}) const
    requires std::copy_constructible<T>
  {
    return detail::Send<T, T>(state_->senders(), detail::share_core(signal), value);
  }
  /// `co_await channel.receive()` waits for a value, and gives it; nothing when the channel is
  /// closed, and all values in it were received.
  ///
  /// Thread, Errors, Cost: as send().
  auto receive(const std::optional<AbortSignal>& signal = {}) const {
    return detail::Receive<T>(state_->receivers(), detail::share_core(signal));
  }

  /// Sends the value, if there is room and nobody waits for it; otherwise, and when the channel is
  /// closed, gives false and leaves the value to the caller.
  ///
  /// Thread: any, lock-free.   Blocks: never.   Cost: two atomic operations.
  [[nodiscard]] bool try_send(T&& value) const noexcept {
    return state_->send(state_->senders().try_take(), std::move(value));
  }
  /// The same with a copy.
  [[nodiscard]] bool try_send(const T& value) const
    requires std::copy_constructible<T>
  {
    return try_send(T(value));
  }
  /// Receives a value, if one is there and nobody waits for it.
  ///
  /// Thread: any, lock-free.   Blocks: never.   Cost: two atomic operations.
  [[nodiscard]] std::optional<T> try_receive() const noexcept {
    return state_->receive(state_->receivers().try_take());
  }

  /// From now on nothing is sent: who waits for room goes on with false, and receivers get what is
  /// in the channel, then nothing. Closing again does nothing.
  ///
  /// Thread: any, lock-free.   Blocks: never; no coroutine goes on within the call.
  void close() const noexcept { state_->close(); }
  [[nodiscard]] bool is_closed() const noexcept { return state_->senders().is_closed(); }
  /// Whether it is closed, and all values were received.
  [[nodiscard]] bool is_ended() const noexcept { return state_->receivers().is_ended(); }

 private:
  const detail::Ref<detail::ChannelState<T>> state_;
};

}  // namespace HEIST_NAMESPACE
