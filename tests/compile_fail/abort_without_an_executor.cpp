// EXPECT: does not tell its executor
// The cancellation would run on a thread of Asio's own, beside the handler.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <heist/asio.hpp>

void wait(boost::asio::io_context& io, const heist::AbortSignal& signal) {
  boost::asio::steady_timer timer(io);
  const auto note = [](boost::system::error_code /*error*/) {};
#ifdef HEIST_EXPECT_OK
  timer.async_wait(heist::bind_abort_signal(signal, boost::asio::bind_executor(io, note)));
#else
  timer.async_wait(boost::asio::bind_executor(io, heist::bind_abort_signal(signal, note)));
#endif
}
