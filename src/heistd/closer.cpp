#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <heistd/closer.hpp>
#include <iostream>
#include <system_error>
#include <utility>

namespace heistd {
namespace {

int make_event() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return descriptor;
}

}  // namespace

Closer::Closer(std::optional<heist::AgentCluster>& cluster, boost::asio::io_context& io,
               Closed closed)
    : cluster_(cluster), closed_(std::move(closed)), end_(io, make_event()) {
  await_end();
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
  report_ = close();
  const std::uint64_t one = 1;
  if (::write(end_.native_handle(), &one, sizeof one) < 0) std::terminate();  // cannot be
}

heist::CloseReport Closer::close() const {
  try {
    return cluster_->close(heist::CloseMode::drain_until(*deadline_));
  } catch (const std::exception& error) {
    std::cerr << "heistd: draining failed: " << error.what() << std::endl;
    return cluster_->close(heist::CloseMode::abort());
  }
}

void Closer::await_end() {
  end_.async_wait(end_.wait_read, [this](const boost::system::error_code& error) {
    std::uint64_t count = 0;
    if (error || ::read(end_.native_handle(), &count, sizeof count) < 0) return;
    closed_(report_);
  });
}

}  // namespace heistd
