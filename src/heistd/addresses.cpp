#include <boost/asio/ip/network_v6.hpp>
#include <heistd/addresses.hpp>

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

}  // namespace

asio::ip::address local_address(const asio::ip::tcp::socket& socket) {
  boost::system::error_code ignored;  // then it is gone, and nothing will come from it
  return plain(socket.local_endpoint(ignored).address());
}

std::string network_of(const asio::ip::address& peer, bool with_loopback) {
  const auto address = plain(peer);
  if (address.is_loopback() && !with_loopback) return {};
  if (address.is_v4()) return address.to_string();
  return asio::ip::make_network_v6(address.to_v6(), 64).canonical().to_string();
}

std::string network_of(const asio::ip::tcp::socket& socket, bool with_loopback) {
  boost::system::error_code ignored;
  return network_of(socket.remote_endpoint(ignored).address(), with_loopback);
}

}  // namespace heistd
