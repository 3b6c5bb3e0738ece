// ServicePulse: the service manager's watchdog.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <heist/detail/sync.hpp>
#include <memory>
#include <vector>

namespace heistd {

/// Tells the service manager again and again that the network thread gets on, and the others that
/// it watches do: four times in the time after which it would start the server anew
/// (`WatchdogSec=`). While one of them has not answered, it tells nothing. Without such a manager
/// it does nothing.
///
/// Thread: the network's.
class ServicePulse {
 public:
  explicit ServicePulse(boost::asio::io_context& io);

  /// Has a thread call what it is given.   Errors: std::bad_alloc; nothing is called then.
  using Ask = std::function<void(std::function<void()>)>;
  /// From now on that thread is to get on, too.   Errors: std::bad_alloc.
  void watch(Ask ask) { threads_.push_back(std::move(ask)); }

  /// To be called after each event. False when it is to be called again soon, as there was no
  /// memory for a timer.
  [[nodiscard]] bool beat() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  using Count = heist::detail::sync::atomic<std::size_t>;

  void ask_all();

  const std::chrono::microseconds interval_;  ///< zero: nobody listens
  boost::asio::steady_timer timer_;
  Clock::time_point next_ = Clock::now();
  std::vector<Ask> threads_;
  // relaxed: the number guards nothing.
  const std::shared_ptr<Count> unanswered_ = std::make_shared<Count>(0);
};

}  // namespace heistd
