#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <heistd/connection_thread.hpp>
#include <iostream>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

SessionContext with_crossing(const SessionContext& context, const Crossing& crossing) {
  return {context.api, context.limits, context.names, crossing};
}

}  // namespace

ConnectionThread::ConnectionThread(asio::io_context& network, Connections& connections,
                                   const SessionContext& context)
    : network_(network),
      places_(connections),
      sessions_(with_crossing(context, Crossing(network, io_))),
      work_(asio::make_work_guard(io_)) {
  std::promise<void> ready;
  auto is_ready = ready.get_future();
  thread_ = std::thread([this, ready = std::move(ready)]() mutable { run(std::move(ready)); });
  try {
    is_ready.get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

void ConnectionThread::start(Accepted accepted) {
  connections_.fetch_add(1, heist::detail::sync::relaxed);
  const auto ended = [this] { connections_.fetch_sub(1, heist::detail::sync::relaxed); };
  try {
    asio::post(io_, [this, ended, accepted = std::move(accepted)]() mutable {
      sessions_.start(std::move(accepted), ended);
    });
  } catch (...) {
    ended();
    throw;
  }
}

void ConnectionThread::renew(const Limits& limits) {
  asio::post(io_, [this, limits] { sessions_.renew(limits); });
}

void ConnectionThread::stop(std::function<void()> quiet) {
  asio::post(io_, [this, quiet = std::move(quiet)] {
    sessions_.stop([this, quiet] { asio::post(network_, quiet); });
  });
}

void ConnectionThread::end() noexcept {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

void ConnectionThread::run(std::promise<void> ready) {
  try {
    NetworkReserve reserve;
    ready.set_value();
    while (!io_.stopped()) serve(reserve);
  } catch (...) {
    ready.set_exception(std::current_exception());
  }
}

/// What Server::run() does for the network's thread.
void ConnectionThread::serve(NetworkReserve& reserve) noexcept {
  try {
    const bool full = reserve.refill();
    if (reserve.is_low()) places_.evict_idle();
    if (full) {
      io_.run_one();
    } else {
      io_.run_one_for(retry_pause);
    }
  } catch (const std::exception& error) {
    std::cerr << "heistd: connection thread: " << error.what() << std::endl;
  }
}

}  // namespace heistd
