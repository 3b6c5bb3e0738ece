// Addresses of a connection's two ends.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <heistd/stream.hpp>
#include <string>

namespace heistd {

/// Whether it is a Unix socket, of this machine.
[[nodiscard]] bool is_local(const Stream::endpoint& endpoint) noexcept;

/// For people: `127.0.0.1:8080`, or `unix:/a/path`.
[[nodiscard]] std::string to_text(const Stream::endpoint& endpoint);

/// The address that the connection has reached; one of IPv4 also where it came mapped into IPv6,
/// and without the interface. That of loopback for a Unix socket, whose peer is on this machine,
/// too.
[[nodiscard]] boost::asio::ip::address local_address(const Stream::socket& socket);

/// What stands for the peer where its connections are counted: its IPv4 address, or its IPv6
/// network of 64 bits, which is what one subscriber has. Empty for loopback and Unix sockets,
/// unless `with_loopback`.
[[nodiscard]] std::string network_of(const boost::asio::ip::address& peer,
                                     bool with_loopback = false);
[[nodiscard]] std::string network_of(const Stream::socket& socket, bool with_loopback);

}  // namespace heistd
