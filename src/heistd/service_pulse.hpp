// ServicePulse: the service manager's watchdog.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

namespace heistd {

/// Tells the service manager again and again that the network thread gets on, twice in the time
/// after which it would start the server anew (`WatchdogSec=`). Without such a manager it does
/// nothing.
///
/// Thread: the network's.
class ServicePulse {
 public:
  explicit ServicePulse(boost::asio::io_context& io);

  /// To be called after each event. False when it is to be called again soon, as there was no
  /// memory for a timer.
  [[nodiscard]] bool beat() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  const std::chrono::microseconds interval_;  ///< zero: nobody listens
  boost::asio::steady_timer timer_;
  Clock::time_point next_ = Clock::now();
};

}  // namespace heistd
