#include <exception>
#include <heistd/service_manager.hpp>
#include <heistd/service_pulse.hpp>

namespace heistd {

ServicePulse::ServicePulse(boost::asio::io_context& io)
    : interval_(watchdog_time() / 2), timer_(io) {}

/// The timer only makes an event.
bool ServicePulse::beat() noexcept {
  if (interval_.count() == 0 || Clock::now() < next_) return true;
  tell_alive();
  const auto next = Clock::now() + interval_;
  try {
    timer_.expires_at(next);  // its event is not to come before that
    timer_.async_wait([](const boost::system::error_code& /*none*/) {});
  } catch (const std::exception&) {
    return false;
  }
  next_ = next;
  return true;
}

}  // namespace heistd
