#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <heistd/server.hpp>
#include <iostream>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

/// How long accepting pauses when the system has no descriptors left.
constexpr std::chrono::milliseconds accept_pause{100};
/// How long the last answers may take to leave, once all jobs have ended.
constexpr std::chrono::seconds farewell_time{1};

heist::AgentClusterOptions cluster_options(const Options& options) {
  heist::AgentClusterOptions cluster;
  cluster.agents = options.agents;
  cluster.name = "heistd-agent";
  cluster.loop.max_wait = options.max_wait;
  return cluster;
}

void log_failure(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::cerr << "heistd: connection failed: " << error.what() << std::endl;
  }
}

}  // namespace

Server::Server(Options options)
    : options_(std::move(options)),
      io_(1),
      acceptor_(io_, {asio::ip::make_address(options_.address), options_.port}),
      signals_(io_, SIGTERM, SIGINT),
      pause_(io_),
      clients_(options_.clients, options_.anonymous_ceiling, options_.limits),
      cluster_(std::in_place, cluster_options(options_)),
      service_(cluster_->scheduler(),
               [this](JobService::Callback call) { asio::post(io_, std::move(call)); }),
      api_(clients_, service_, options_.limits) {}

Server::~Server() {
  if (closer_.joinable()) closer_.join();
  // First of all, as its last words go to the service and the io_context.
  cluster_.reset();
}

Server::Tcp::endpoint Server::endpoint() const { return acceptor_.local_endpoint(); }

void Server::run() {
  asio::co_spawn(io_, accept(), asio::detached);
  asio::co_spawn(io_, watch_signals(), asio::detached);
  io_.run();
}

asio::awaitable<void> Server::accept() {
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(as_tuple);
    if (!error) {
      asio::co_spawn(io_, serve(std::move(socket)), &log_failure);
    } else if (acceptor_.is_open()) {
      pause_.expires_after(accept_pause);
      co_await pause_.async_wait(as_tuple);
    }
  }
}

asio::awaitable<void> Server::serve(Tcp::socket socket) {
  // Some over the limit are told so; a flood of them is not.
  const auto limit = options_.limits.max_connections;
  if (sessions_.size() >= 2 * limit) co_return;
  const bool welcome = sessions_.size() < limit;
  Tcp::no_delay at_once(true);
  boost::system::error_code ignored;
  static_cast<void>(socket.set_option(at_once, ignored));
  const auto session = std::make_shared<HttpSession>(std::move(socket), api_, options_.limits);
  sessions_.insert(session);
  try {
    auto served = welcome ? session->serve() : session->turn_away();
    co_await std::move(served);
  } catch (...) {
    sessions_.erase(session);
    throw;
  }
  sessions_.erase(session);
  end_when_quiet();
}

asio::awaitable<void> Server::watch_signals() {
  while (!drained_) {
    const auto [error, number] = co_await signals_.async_wait(as_tuple);
    if (error) co_return;
    if (!draining_) {
      start_drain(number);
    } else {
      std::cout << "heistd: a second signal: aborting " << abort_all_jobs() << " jobs" << std::endl;
    }
  }
}

void Server::start_drain(int signal_number) {
  draining_ = true;
  drain_start_ = Clock::now();
  finished_before_drain_ = service_.finished_count();
  std::cout << "heistd: " << (signal_number == SIGTERM ? "SIGTERM" : "SIGINT")
            << ": draining for at most " << options_.drain_deadline.count() << " ms" << std::endl;
  acceptor_.close();
  service_.start_shutdown();
  for (const auto& session : sessions_) session->stop();
  closer_ = std::thread([this, deadline = drain_start_ + options_.drain_deadline] {
    const auto report = cluster_->close(heist::CloseMode::drain_until(deadline));
    asio::post(io_, [this, report] { finish_drain(report); });
  });
}

std::size_t Server::abort_all_jobs() {
  std::size_t aborted = 0;
  for (const auto& client : clients_.all()) {
    aborted += service_.abort_all(*client, "the server is shutting down");
  }
  aborted_by_drain_ += aborted;
  return aborted;
}

void Server::finish_drain(const heist::CloseReport& report) {
  drained_ = true;
  // The agents' last words were posted before this: what is unfinished now never will be finished.
  abort_all_jobs();
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - drain_start_);
  std::cout << "heistd: drained in " << took.count()
            << " ms: " << service_.finished_count() - finished_before_drain_ << " jobs finished, "
            << aborted_by_drain_ << " aborted (" << report.ran << " tasks ran, " << report.aborted
            << " dropped, " << report.still_running << " still running)" << std::endl;
  signals_.cancel();
  pause_.expires_after(farewell_time);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) io_.stop();
  });
  end_when_quiet();
}

void Server::end_when_quiet() {
  if (drained_ && sessions_.empty()) io_.stop();
}

}  // namespace heistd
