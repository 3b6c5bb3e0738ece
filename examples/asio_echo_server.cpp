// A TCP echo server on Boost.Asio: the io_context has the sockets and drives the loop, and handlers
// run at priorities. No further thread is started.
#include <array>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <utility>

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

namespace {

/// One connection, whose handlers run at one priority.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, heist::asio::Executor executor)
      : socket_(std::move(socket)), executor_(std::move(executor)) {}

  void read() {
    auto on_read = [self = shared_from_this()](const error_code& error, std::size_t size) {
      if (!error) self->write(size);
    };
    socket_.async_read_some(net::buffer(buffer_), net::bind_executor(executor_, on_read));
  }

 private:
  void write(std::size_t size) {
    auto on_written = [self = shared_from_this()](const error_code& error, std::size_t /*size*/) {
      if (!error) self->read();
    };
    net::async_write(socket_, net::buffer(buffer_, size),
                     net::bind_executor(executor_, on_written));
  }

  tcp::socket socket_;
  heist::asio::Executor executor_;
  std::array<char, 1024> buffer_{};
};

/// A client that sends a line, and prints what comes back.
heist::Promise<void> talk(net::io_context& io, tcp::endpoint server) {
  tcp::socket socket(io);
  const auto connected = socket.async_connect(server, heist::use_promise);
  co_await connected;
  const std::string line = "hello\n";
  const auto sent = net::async_write(socket, net::buffer(line), heist::use_promise);
  co_await sent;
  std::string answer(line.size(), '\0');
  const auto received = socket.async_read_some(net::buffer(answer), heist::use_promise);
  co_await received;
  std::printf("echo: %s", answer.c_str());
  io.stop();
}

int serve() {
  heist::asio::TaskContext context;  // first: handlers that still wait at the end count in it
  net::io_context io;
  heist::EventLoop loop;
  const heist::asio::LoopHost host(io, loop);
  const auto urgent = net::require(heist::asio::Executor(context, loop.scheduler()),
                                   heist::asio::priority(heist::TaskPriority::user_blocking));

  tcp::acceptor acceptor(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
  acceptor.async_accept([&](const error_code& error, tcp::socket socket) {
    if (!error) std::make_shared<Session>(std::move(socket), urgent)->read();
  });

  const auto done = loop.scheduler().post_task([&] { return talk(io, acceptor.local_endpoint()); });
  io.run();
  return done.reason() ? 1 : 0;
}

}  // namespace

int main() {
  try {
    return serve();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asio_echo_server: %s\n", error.what());
    return 1;
  }
}
