// How heistd gets the socket on which it listens.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <heistd/options.hpp>

namespace heistd {

/// Listens on the socket that the service manager has passed, or else on the address and the port
/// of the options.
///
/// Errors: boost::system::system_error, as of Asio; those of take_inherited_socket().
[[nodiscard]] boost::asio::ip::tcp::acceptor start_listening(boost::asio::io_context& io,
                                                             const Options& options);

}  // namespace heistd
