#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cstdint>
#include <heistd/service_manager.hpp>
#include <stdexcept>
#include <string>

namespace heistd {
namespace {

bool is_listening(int descriptor, int family) {
  return sd_is_socket(descriptor, family, SOCK_STREAM, 1) > 0;
}

}  // namespace

std::optional<InheritedSocket> take_inherited_socket() {
  const int count = sd_listen_fds(1);
  if (count <= 0) return std::nullopt;
  if (count > 1) {
    throw std::runtime_error("the service manager has passed " + std::to_string(count) +
                             " sockets; heistd listens on one");
  }
  constexpr int first = SD_LISTEN_FDS_START;
  for (const int family : {AF_INET, AF_INET6, AF_UNIX}) {
    if (is_listening(first, family)) return InheritedSocket{Stream(family, 0), first};
  }
  throw std::runtime_error(
      "the service manager has passed something that is no listening TCP or Unix socket");
}

std::chrono::microseconds watchdog_time() noexcept {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) <= 0) return {};
  return std::chrono::microseconds(microseconds);
}

void tell_alive() noexcept { sd_notify(0, "WATCHDOG=1"); }
void tell_ready() { sd_notify(0, "READY=1"); }
void tell_stopping() { sd_notify(0, "STOPPING=1"); }

}  // namespace heistd
