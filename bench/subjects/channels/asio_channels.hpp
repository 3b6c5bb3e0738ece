// Asio's experimental channels: the one that a single thread may use, and the one for a pool. With
// the executors' own types, which spare the type-erased any_io_executor.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <memory>

#include "../../completion.hpp"
#include "../asio.hpp"

namespace bench {

template <class Base, class Executor, template <class...> class Channel>
class AsioChannelsOn : public Base {
 public:
  void begin(std::size_t capacity, std::int64_t count, Completion& received) {
    const Executor executor = this->context().get_executor();
    const auto channel = std::make_shared<Values>(executor, capacity);
    boost::asio::co_spawn(executor, send(channel, count), boost::asio::detached);
    boost::asio::co_spawn(executor, receive(channel, received), boost::asio::detached);
  }

 private:
  using Values = Channel<Executor, void(boost::system::error_code, std::int64_t)>;
  using Awaitable = boost::asio::awaitable<void, Executor>;

  static Awaitable send(std::shared_ptr<Values> channel, std::int64_t count) {
    const boost::asio::use_awaitable_t<Executor> awaitable;
    for (std::int64_t i = 0; i < count; ++i) {
      co_await channel->async_send(boost::system::error_code(), i, awaitable);
    }
  }
  static Awaitable receive(std::shared_ptr<Values> channel, Completion& received) {
    const boost::asio::use_awaitable_t<Executor> awaitable;
    for (bool is_last = false; !is_last;) {
      const std::int64_t value = co_await channel->async_receive(awaitable);
      is_last = received.add(static_cast<std::uint64_t>(value));
    }
  }
};

using AsioChannels = AsioChannelsOn<AsioSubject, boost::asio::io_context::executor_type,
                                    boost::asio::experimental::channel>;
using AsioPoolChannels = AsioChannelsOn<AsioPool<2>, boost::asio::thread_pool::executor_type,
                                        boost::asio::experimental::concurrent_channel>;

}  // namespace bench
