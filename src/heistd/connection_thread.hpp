// ConnectionThread: a thread that serves connections beside the network's.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <future>
#include <heist/detail/sync.hpp>
#include <heistd/accepted.hpp>
#include <heistd/connections.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/sessions.hpp>
#include <thread>

namespace heistd {

/// Reads requests and writes replies of the connections that it is given. What they ask for is
/// done on the network's thread.
///
/// Thread: the network's.   Lifetime: longer than the network's io_context, as coroutines of its
/// connections may be there.
class ConnectionThread {
 public:
  /// Open files of one, and those of connections that are about to be closed for others.
  static constexpr std::size_t descriptors = 8;

  /// What the context refers to may come later, but before the first connection.
  ///
  /// Errors: std::system_error without a thread, std::bad_alloc without its reserve.
  ConnectionThread(boost::asio::io_context& network, Connections& connections,
                   const SessionContext& context);
  ~ConnectionThread() { end(); }
  ConnectionThread(const ConnectionThread&) = delete;
  ConnectionThread& operator=(const ConnectionThread&) = delete;

  /// How many connections it has.
  [[nodiscard]] std::size_t connections() const noexcept {
    return connections_.load(heist::detail::sync::relaxed);
  }
  /// That of the sockets that are given to start().
  [[nodiscard]] boost::asio::io_context& io() noexcept { return io_; }

  /// Serves a connection.   Errors: std::bad_alloc, also below.
  void start(Accepted accepted);
  /// As of Sessions.
  void renew(const Limits& limits);
  /// As of Sessions; `quiet` is called on the network's thread.
  void stop(std::function<void()> quiet);

  /// Ends the thread, and leaves its connections as they are.   Blocks: for a moment.
  void end() noexcept;

 private:
  void run(std::promise<void> ready);
  void serve(NetworkReserve& reserve) noexcept;

  boost::asio::io_context& network_;
  Connections& places_;
  boost::asio::io_context io_{1};
  Sessions sessions_;
  // relaxed: the number guards nothing.
  heist::detail::sync::atomic<std::size_t> connections_{0};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace heistd
