// Asio's equivalent of a yield: a coroutine defers its own continuation. With the executor's own
// type, which spares the type-erased any_io_executor, and without naming it again, which costs
// twice as much.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "../asio.hpp"
#include "turns.hpp"

namespace bench {

class AsioYields : public AsioSubject {
 public:
  void begin(Turns& turns, int player) {
    boost::asio::co_spawn(context().get_executor(), play(turns, player), boost::asio::detached);
  }

 private:
  using Executor = boost::asio::io_context::executor_type;

  static boost::asio::awaitable<void, Executor> play(Turns& turns, int player) {
    const boost::asio::use_awaitable_t<Executor> awaitable;
    for (auto left = turns.each(); left > 0; --left) {
      co_await boost::asio::defer(awaitable);
      turns.take(player);
    }
  }
};

}  // namespace bench
