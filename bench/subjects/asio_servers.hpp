// TCP servers on Boost.Asio, whose requests are handled by one further thread: a heist agent, or a
// thread pool of Asio; and one whose agent has the sockets, too.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <heist/agent_cluster.hpp>
#include <heist/asio.hpp>
#include <mutex>
#include <thread>
#include <utility>

namespace bench {

/// A thread that has the sockets.
class SocketThread {
 public:
  [[nodiscard]] auto sockets() noexcept { return io_.get_executor(); }
  void start() {
    thread_ = std::thread([this] { io_.run(); });
  }
  void stop() {
    io_.stop();
    thread_.join();
  }

 private:
  boost::asio::io_context io_{1};
  std::thread thread_;
};

/// Executors of a cluster for the two priorities.
class HeistExecutors {
 public:
  HeistExecutors(heist::asio::TaskContext& context, const heist::AgentCluster& cluster)
      : urgent(at(context, cluster, heist::TaskPriority::user_blocking)),
        background(at(context, cluster, heist::TaskPriority::background)) {}

  const heist::asio::Executor urgent;
  const heist::asio::Executor background;

 private:
  static heist::asio::Executor at(heist::asio::TaskContext& context,
                                  const heist::AgentCluster& cluster, heist::TaskPriority level) {
    return heist::asio::Executor(context, cluster).require(heist::asio::priority(level));
  }
};

class HeistHandlers : public SocketThread {
 public:
  static constexpr const char* name = "heist";
  [[nodiscard]] const auto& urgent() const noexcept { return executors_.urgent; }
  [[nodiscard]] const auto& background() const noexcept { return executors_.background; }

 private:
  heist::asio::TaskContext context_;
  heist::AgentCluster cluster_{{.agents = 1}};
  HeistExecutors executors_{context_, cluster_};
};

class HeistAgents {
 public:
  static constexpr const char* name = "heist_agents";
  [[nodiscard]] auto sockets() const { return contexts_[0]; }
  void start() const noexcept {}
  void stop() { static_cast<void>(cluster_.close(heist::CloseMode::abort())); }
  [[nodiscard]] const auto& urgent() const noexcept { return executors_.urgent; }
  [[nodiscard]] const auto& background() const noexcept { return executors_.background; }

 private:
  heist::asio::TaskContext context_;
  heist::asio::AgentContexts contexts_{1};
  heist::AgentCluster cluster_{{.hosts = contexts_.hosts()}};
  HeistExecutors executors_{context_, cluster_};
};

class AsioHandlers : public SocketThread {
 public:
  static constexpr const char* name = "asio_thread_pool";
  ~AsioHandlers() { pool_.join(); }
  [[nodiscard]] auto urgent() noexcept { return pool_.get_executor(); }
  [[nodiscard]] auto background() noexcept { return pool_.get_executor(); }

 private:
  boost::asio::thread_pool pool_{1};
};

/// Each byte that the client sends is a request. Who has the sockets reads it, and posts its
/// handler.
template <class Handlers>
class AsioServer {
  using tcp = boost::asio::ip::tcp;

 public:
  static constexpr const char* name = Handlers::name;

  AsioServer() {
    tcp::acceptor acceptor(handlers_.sockets(),
                           tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    client_.connect(acceptor.local_endpoint());
    acceptor.accept(socket_);
    client_.set_option(tcp::no_delay(true));
    read();
    handlers_.start();
  }
  AsioServer(const AsioServer&) = delete;
  AsioServer& operator=(const AsioServer&) = delete;
  ~AsioServer() { handlers_.stop(); }
  /// Sends a request that calls `f`. One thread calls this.
  template <class F>
  void post_urgent(F&& f) {
    {
      const std::lock_guard lock(mutex_);
      requests_.emplace_back(std::forward<F>(f));
    }
    boost::asio::write(client_, boost::asio::buffer("r", 1));
  }
  template <class F>
  void post_background(F&& f) {
    boost::asio::post(handlers_.background(), std::forward<F>(f));
  }

 private:
  void read() {
    socket_.async_read_some(boost::asio::buffer(bytes_),
                            [this](const auto& error, std::size_t size) {
                              if (error) return;
                              for (std::size_t i = 0; i < size; ++i)
                                boost::asio::post(handlers_.urgent(), next_request());
                              read();
                            });
  }
  std::function<void()> next_request() {
    const std::lock_guard lock(mutex_);
    auto request = std::move(requests_.front());
    requests_.pop_front();
    return request;
  }

  Handlers handlers_;
  tcp::socket client_{handlers_.sockets()};
  tcp::socket socket_{handlers_.sockets()};
  std::array<char, 64> bytes_{};
  std::mutex mutex_;
  std::deque<std::function<void()>> requests_;
};

}  // namespace bench
