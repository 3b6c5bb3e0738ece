// Stream: the kinds of sockets that heistd listens on.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

namespace heistd {

/// TCP, or the Unix sockets of this machine.
using Stream = boost::asio::generic::stream_protocol;
using StreamAcceptor = boost::asio::basic_socket_acceptor<Stream>;

}  // namespace heistd
