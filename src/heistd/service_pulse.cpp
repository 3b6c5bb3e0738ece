#include <exception>
#include <heistd/service_manager.hpp>
#include <heistd/service_pulse.hpp>

namespace heistd {

namespace sync = heist::detail::sync;

ServicePulse::ServicePulse(boost::asio::io_context& io)
    : interval_(watchdog_time() / 4), timer_(io) {}

/// The timer only makes an event.
bool ServicePulse::beat() noexcept {
  if (interval_.count() == 0 || Clock::now() < next_) return true;
  const auto next = Clock::now() + interval_;
  try {
    if (unanswered_->load(sync::relaxed) == 0) {
      tell_alive();
      ask_all();
    }
    timer_.expires_at(next);  // its event is not to come before that
    timer_.async_wait([](const boost::system::error_code& /*none*/) {});
  } catch (const std::exception&) {
    return false;
  }
  next_ = next;
  return true;
}

/// An answer that comes before it is counted makes the number wrap around, and back.
void ServicePulse::ask_all() {
  for (const auto& ask : threads_) {
    ask([unanswered = unanswered_] { unanswered->fetch_sub(1, sync::relaxed); });
    unanswered_->fetch_add(1, sync::relaxed);
  }
}

}  // namespace heistd
