// Heist: a Channel between two coroutines, on one agent or in a cluster of two.
#pragma once

#include <cstdint>
#include <heist/channel.hpp>
#include <heist/detail/coroutine.hpp>
#include <memory>

#include "../../completion.hpp"
#include "../heist.hpp"
#include "../heist_pool.hpp"

namespace bench {

template <class Base>
class HeistChannelsOn : public Base {
 public:
  /// One coroutine sends the numbers from 0 on, and another one receives them.
  void begin(std::size_t capacity, std::int64_t count, Completion& received) {
    const auto channel = std::make_shared<Values>(capacity);
    this->post([channel, count] { static_cast<void>(send(channel, count)); });
    this->post([channel, &received] { static_cast<void>(receive(channel, received)); });
  }

 private:
  using Values = heist::Channel<std::int64_t>;

  static heist::Promise<void> send(std::shared_ptr<Values> channel, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!co_await channel->send(std::int64_t{i})) co_return;
    }
    channel->close();
  }
  static heist::Promise<void> receive(std::shared_ptr<Values> channel, Completion& received) {
    while (const auto value = co_await channel->receive()) {
      if (received.add(static_cast<std::uint64_t>(*value))) co_return;
    }
  }
};

using HeistChannels = HeistChannelsOn<HeistSubject>;
using HeistPoolChannels = HeistChannelsOn<HeistPool<2>>;

}  // namespace bench
