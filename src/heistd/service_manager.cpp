#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <heistd/service_manager.hpp>
#include <stdexcept>
#include <string>

namespace heistd {
namespace {

bool is_listening(int descriptor, int family) {
  return sd_is_socket_inet(descriptor, family, SOCK_STREAM, 1, 0) > 0;
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
  using boost::asio::ip::tcp;
  if (is_listening(first, AF_INET)) return InheritedSocket{tcp::v4(), first};
  if (is_listening(first, AF_INET6)) return InheritedSocket{tcp::v6(), first};
  throw std::runtime_error(
      "the service manager has passed something that is no listening TCP socket");
}

void tell_ready() { sd_notify(0, "READY=1"); }
void tell_stopping() { sd_notify(0, "STOPPING=1"); }

}  // namespace heistd
