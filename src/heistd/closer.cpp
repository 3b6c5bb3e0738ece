#include <boost/asio/bind_executor.hpp>
#include <exception>
#include <heist/asio/async_wait.hpp>
#include <heistd/closer.hpp>
#include <iostream>
#include <utility>

namespace heistd {

Closer::Closer(std::optional<heist::AgentCluster>& cluster, boost::asio::io_context& io,
               Closed closed)
    : cluster_(cluster), end_(heist::Promise<heist::CloseReport>::with_resolver()) {
  heist::async_wait(end_.promise,
                    boost::asio::bind_executor(
                        io, [closed = std::move(closed)](const std::exception_ptr& error,
                                                         const heist::CloseReport& report) {
                          if (!error) closed(report);
                        }));
  thread_ = std::thread([this] { run(); });
}

Closer::~Closer() {
  start_.release();
  thread_.join();
}

void Closer::close_until(Clock::time_point deadline) noexcept {
  if (deadline_) return;
  deadline_ = deadline;
  start_.release();
}

void Closer::run() {
  start_.acquire();
  if (!deadline_) return;
  end_.resolver.resolve(close());
}

heist::CloseReport Closer::close() const {
  try {
    return cluster_->close(heist::CloseMode::drain_until(*deadline_));
  } catch (const std::exception& error) {
    std::cerr << "heistd: draining failed: " << error.what() << std::endl;
    return cluster_->close(heist::CloseMode::abort());
  }
}

}  // namespace heistd
