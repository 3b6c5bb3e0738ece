#include <netinet/tcp.h>

#include <boost/asio/ip/address.hpp>
#include <heistd/listening.hpp>
#include <heistd/service_manager.hpp>

namespace heistd {
namespace {

namespace asio = boost::asio;

using Tcp = asio::ip::tcp;

/// What the system keeps of one connection, each way; it takes twice as much for its own use.
/// Whoever reads nothing of a large reply holds no more than that.
constexpr int system_buffer_bytes = static_cast<int>(128 * kib);

/// The options are those of each connection that is accepted, too. A peer that is gone without a
/// word while it waits for its job is noticed after two minutes.
void set_up(Tcp::acceptor& acceptor) {
  using asio::detail::socket_option::integer;
  acceptor.set_option(Tcp::no_delay(true));
  acceptor.set_option(asio::socket_base::send_buffer_size(system_buffer_bytes));
  acceptor.set_option(asio::socket_base::receive_buffer_size(system_buffer_bytes));
  acceptor.set_option(asio::socket_base::keep_alive(true));
  acceptor.set_option(integer<IPPROTO_TCP, TCP_KEEPIDLE>(60));
  acceptor.set_option(integer<IPPROTO_TCP, TCP_KEEPINTVL>(15));
  acceptor.set_option(integer<IPPROTO_TCP, TCP_KEEPCNT>(4));
}

}  // namespace

Tcp::acceptor start_listening(asio::io_context& io, const Options& options) {
  if (const auto inherited = take_inherited_socket()) {
    Tcp::acceptor acceptor(io, inherited->protocol, inherited->descriptor);
    set_up(acceptor);
    return acceptor;
  }
  const Tcp::endpoint endpoint(asio::ip::make_address(options.address), options.port);
  Tcp::acceptor acceptor(io, endpoint.protocol());
  acceptor.set_option(Tcp::acceptor::reuse_address(true));
  set_up(acceptor);
  acceptor.bind(endpoint);
  acceptor.listen();
  return acceptor;
}

}  // namespace heistd
