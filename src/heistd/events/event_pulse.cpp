#include <exception>
#include <heistd/events/event_pulse.hpp>

namespace heistd {

/// The timer only makes an event.
bool EventPulse::beat() noexcept {
  if (!clients_.has_listeners) return true;
  const auto now = Clock::now();
  if (now < next_) return true;
  clients_.has_listeners = false;
  for (const auto& client : clients_.all()) {
    client->events.beat(now);
    clients_.has_listeners |= client->events.is_open();
  }
  try {
    timer_.expires_after(ClientEvents::interval);
    timer_.async_wait([](const boost::system::error_code& /*none*/) {});
  } catch (const std::exception&) {
    return false;
  }
  next_ = now + ClientEvents::interval;
  return true;
}

void EventPulse::end_streams(std::string_view why) noexcept {
  for (const auto& client : clients_.all()) client->events.end_streams(why);
}

}  // namespace heistd
