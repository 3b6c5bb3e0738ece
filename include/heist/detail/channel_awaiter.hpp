// ReceiveAwaiter, SendAwaiter: how a coroutine awaits a value of a channel, or room for one.
#pragma once

#include <coroutine>
#include <heist/detail/channel_core.hpp>
#include <heist/detail/channel_side.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/wait_awaiter.hpp>
#include <heist/version.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Takes a turn without a wait, or else waits for one.
template <class T>
class TurnAwaiter : public WaitAwaiter<ChannelSide, ChannelGrant<T>> {
  using Base = WaitAwaiter<ChannelSide, ChannelGrant<T>>;

 public:
  using Base::Base;

  [[nodiscard]] bool await_ready() noexcept {
    turn_ = this->core().try_take();
    return !turn_.must_wait();
  }
  template <class Awaiting>
  void await_suspend(std::coroutine_handle<Awaiting> coroutine) {
    this->core().check_room_to_wait();
    Base::await_suspend(coroutine);
  }

 protected:
  /// Calls `use(channel, turn)`. Whoever has waited may be the last one to know the channel.
  template <class Use>
  auto with_turn(Use use) {
    auto& channel = static_cast<ChannelState<T>&>(this->core().channel());
    if (!turn_.must_wait()) return use(channel, turn_);
    ChannelGrant<T> grant = Base::await_resume();
    return use(channel, grant.take());
  }

 private:
  ChannelTurn turn_ = ChannelTurn::none(ChannelTurn::Outcome::must_wait);
};

template <class T>
class ReceiveAwaiter : public TurnAwaiter<T> {
 public:
  using TurnAwaiter<T>::TurnAwaiter;

  [[nodiscard]] std::optional<T> await_resume() {
    return this->with_turn(
        [](ChannelState<T>& channel, ChannelTurn turn) { return channel.receive(turn); });
  }
};

/// The value stays where it is until a cell is there for it.
template <class T>
class SendAwaiter : public TurnAwaiter<T> {
 public:
  SendAwaiter(ChannelSide& side, Ref<SignalCore> signal, T& value) noexcept
      : TurnAwaiter<T>(side, std::move(signal)), value_(value) {}

  [[nodiscard]] bool await_resume() {
    return this->with_turn([this](ChannelState<T>& channel, ChannelTurn turn) {
      return channel.send(turn, std::move(value_));
    });
  }

 private:
  T& value_;
};

/// What `receive()` returns.
template <class T>
using Receive = Wait<ChannelSide, ChannelGrant<T>, ReceiveAwaiter<T>>;

/// What `send()` returns, to be awaited at once. `Value` is T&, or T for a copy.
template <class T, class Value>
class [[nodiscard("nothing is sent before it is awaited")]] Send {
 public:
  template <class Argument>
  Send(ChannelSide& side, Ref<SignalCore> signal, Argument& value)
      : side_(side), signal_(std::move(signal)), value_(value) {}
  Send(const Send&) = delete;
  Send& operator=(const Send&) = delete;
  ~Send() = default;

  SendAwaiter<T> operator co_await() && noexcept {
    return SendAwaiter<T>(side_, std::move(signal_), value_);
  }

 private:
  ChannelSide& side_;
  Ref<SignalCore> signal_;
  Value value_;
};

template <class T, class Value>
inline constexpr bool restores_state<Send<T, Value>> = true;

}  // namespace HEIST_NAMESPACE::detail
