#include <sys/un.h>

#include <boost/asio/ip/network_v6.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstring>
#include <heistd/addresses.hpp>
#include <sstream>

namespace heistd {
namespace {

namespace asio = boost::asio;

asio::ip::address plain(const asio::ip::address& address) {
  if (!address.is_v6()) return address;
  auto v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6);
  v6.scope_id(0);
  return v6;
}

/// The same endpoint, of its own type.
template <class Endpoint>
Endpoint as(const Stream::endpoint& endpoint) {
  Endpoint own;
  own.resize(endpoint.size());
  std::memcpy(own.data(), endpoint.data(), endpoint.size());
  return own;
}

asio::ip::address address_of(const Stream::endpoint& endpoint) {
  if (is_local(endpoint)) return asio::ip::address_v4::loopback();
  return plain(as<asio::ip::tcp::endpoint>(endpoint).address());
}

}  // namespace

bool is_local(const Stream::endpoint& endpoint) noexcept {
  return endpoint.protocol().family() == AF_UNIX;
}

std::string to_text(const Stream::endpoint& endpoint) {
  if (is_local(endpoint))
    return "unix:" + as<asio::local::stream_protocol::endpoint>(endpoint).path();
  std::ostringstream text;
  text << as<asio::ip::tcp::endpoint>(endpoint);
  return std::move(text).str();
}

asio::ip::address local_address(const Stream::socket& socket) {
  boost::system::error_code ignored;  // then it is gone, and nothing will come from it
  return address_of(socket.local_endpoint(ignored));
}

std::string network_of(const asio::ip::address& peer, bool with_loopback) {
  const auto address = plain(peer);
  if (address.is_loopback() && !with_loopback) return {};
  if (address.is_v4()) return address.to_string();
  return asio::ip::make_network_v6(address.to_v6(), 64).canonical().to_string();
}

std::string network_of(const Stream::socket& socket, bool with_loopback) {
  boost::system::error_code ignored;
  return network_of(address_of(socket.remote_endpoint(ignored)), with_loopback);
}

}  // namespace heistd
