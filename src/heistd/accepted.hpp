// Accepted: a connection that has come, with its place among the others.
#pragma once

#include <sys/socket.h>

#include <heistd/addresses.hpp>
#include <heistd/connections.hpp>
#include <heistd/stream.hpp>
#include <heistd/tls_identity.hpp>
#include <memory>
#include <utility>

namespace heistd {

/// It has its place at once, on whatever thread it will be served, so that places are in the order
/// in which connections came.
struct Accepted {
  /// Errors: std::bad_alloc.
  Accepted(Stream::socket its_socket, std::shared_ptr<const TlsIdentity> its_identity,
           Connections& connections, bool limit_loopback)
      : socket(std::move(its_socket)),
        identity(std::move(its_identity)),
        // Whoever evicts may be another thread, which must not touch the socket's object. What is
        // done with the socket ends by that.
        place(std::make_unique<Connections::Place>(
            connections, network_of(socket, limit_loopback),
            [descriptor = socket.native_handle()] { ::shutdown(descriptor, SHUT_RDWR); })) {}

  Stream::socket socket;
  std::shared_ptr<const TlsIdentity> identity;  ///< null: without TLS
  /// It goes first, so that nobody evicts another connection with the same descriptor.
  std::unique_ptr<Connections::Place> place;
};

}  // namespace heistd
