// EventPulse: when those who listen are told what is new.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <heistd/client.hpp>
#include <string_view>

namespace heistd {

/// Has the events of all clients to whom somebody listens told, at a steady interval. Otherwise it
/// does nothing.
///
/// Thread: the network's.
class EventPulse {
 public:
  EventPulse(ClientTable& clients, boost::asio::io_context& io) : clients_(clients), timer_(io) {}

  /// To be called after each event of the network. False when it is to be called again soon, as
  /// there was no memory for a timer.
  [[nodiscard]] bool beat() noexcept;

  /// Ends all streams with a last event, which has the reason, a text that is always there.
  void end_streams(std::string_view why) noexcept;

 private:
  using Clock = ClientEvents::Clock;

  ClientTable& clients_;
  boost::asio::steady_timer timer_;
  Clock::time_point next_;
};

}  // namespace heistd
