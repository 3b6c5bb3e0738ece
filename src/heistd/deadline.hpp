// Deadline: when what a connection waits for is over.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <heistd/limits.hpp>
#include <heistd/sending.hpp>
#include <heistd/stream.hpp>
#include <memory>
#include <optional>

namespace heistd {

/// At the deadline what the socket does is cancelled, unless that was to send a reply, which has
/// come further.
///
/// Thread: the network's.   Lifetime: shorter than the socket's, whose owner alone shares it.
class Deadline : public std::enable_shared_from_this<Deadline> {
 public:
  explicit Deadline(Stream::socket& socket) : socket_(socket), timer_(socket.get_executor()) {}

  void set(std::chrono::milliseconds time) { set(Clock::now() + time); }
  void set(Clock::time_point deadline);
  void clear() noexcept { deadline_ = Clock::time_point::max(); }
  /// For good.
  void cancel() { timer_.cancel(); }

  /// Whether it has, since it was set.
  [[nodiscard]] bool has_passed() const noexcept { return has_passed_; }

  /// To be called for each part of a reply, which begins with the first one.
  Sending& begin_sending(const Limits& limits) {
    if (!sending_) sending_.emplace(limits, Clock::now(), socket_.native_handle());
    return *sending_;
  }
  [[nodiscard]] bool is_sending() const noexcept { return sending_.has_value(); }
  void end_sending() noexcept { sending_.reset(); }

 private:
  void arm();
  void on_timer();

  Stream::socket& socket_;
  // The one timer of all deadlines: it may expire too early, then it is armed again.
  boost::asio::steady_timer timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool is_armed_ = false;
  bool has_passed_ = false;
  std::optional<Sending> sending_;  ///< of the reply under way
};

}  // namespace heistd
