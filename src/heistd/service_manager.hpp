// What heistd and the program that starts it as a service (systemd) tell each other.
#pragma once

#include <chrono>
#include <heistd/stream.hpp>
#include <optional>

namespace heistd {

/// A socket that the service manager has opened for this process, and the protocol of it.
struct InheritedSocket {
  Stream protocol;
  int descriptor;
};

/// The listening socket that was handed to this process by the protocol of sd_listen_fds(3); empty
/// without one. To be called once, before there are threads.
///
/// Errors: std::runtime_error when there are several, or one that does not listen, or is
/// of another kind.
[[nodiscard]] std::optional<InheritedSocket> take_inherited_socket();

/// Says that requests are answered from now on. Does nothing without a service manager.
void tell_ready();
/// After which time without tell_alive() the manager takes this process for stuck; zero: never.
[[nodiscard]] std::chrono::microseconds watchdog_time() noexcept;
/// Says that the server gets on.
void tell_alive() noexcept;
/// Says that the server has begun to end. Does nothing without a service manager.
void tell_stopping();

}  // namespace heistd
