// Asio has no mutex: a coroutine enters a strand for each turn, behind whoever has come before.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "../asio.hpp"
#include "../yields/turns.hpp"

namespace bench {

class AsioStrands : public AsioSubject {
 public:
  static constexpr const char* name = "asio_strand";
  void begin(Turns& turns, int player) {
    if (player == 0) strand_ = boost::asio::make_strand(context().get_executor());
    boost::asio::co_spawn(strand_, play(turns, player), boost::asio::detached);
  }

 private:
  using Executor = boost::asio::strand<boost::asio::io_context::executor_type>;

  static boost::asio::awaitable<void, Executor> play(Turns& turns, int player) {
    const boost::asio::use_awaitable_t<Executor> awaitable;
    if (player == 0) co_await boost::asio::post(awaitable);  // the other one is spawned meanwhile
    for (auto left = turns.each(); left > 0; --left) {
      co_await boost::asio::post(awaitable);
      turns.take(player);
    }
  }

  Executor strand_ = boost::asio::make_strand(context().get_executor());
};

}  // namespace bench
