// Addresses of a connection's two ends.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

namespace heistd {

/// The address that the connection has reached; one of IPv4 also where it came mapped into IPv6,
/// and without the interface.
[[nodiscard]] boost::asio::ip::address local_address(const boost::asio::ip::tcp::socket& socket);

/// What stands for the peer where its connections are counted: its IPv4 address, or its IPv6
/// network of 64 bits, which is what one subscriber has. Empty for loopback, unless
/// `with_loopback`.
[[nodiscard]] std::string network_of(const boost::asio::ip::address& peer,
                                     bool with_loopback = false);
[[nodiscard]] std::string network_of(const boost::asio::ip::tcp::socket& socket,
                                     bool with_loopback);

}  // namespace heistd
