// Listener: the socket on which heistd listens.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <heistd/options.hpp>
#include <heistd/stream.hpp>
#include <optional>
#include <string>
#include <utility>

namespace heistd {

/// Of a file, among all that are there at a time: its device's number and its own.
using FileIdentity = std::pair<dev_t, ino_t>;

/// The socket that the service manager has passed, or else one at the path, or the address and the
/// port, of the options.
///
/// Thread: the network's.
class Listener {
 public:
  /// Listens. The file of a server that has ended without removing it makes room.
  ///
  /// Errors: boost::system::system_error, as of Asio; those of take_inherited_socket().
  Listener(boost::asio::io_context& io, const Options& options);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(); }

  [[nodiscard]] StreamAcceptor& acceptor() noexcept { return acceptor_; }

  /// Whether the service manager keeps the socket, and connections for the next server with it.
  [[nodiscard]] bool is_inherited() const noexcept { return is_inherited_; }

  [[nodiscard]] bool is_tcp() const;

  /// Where it listens, for people: `127.0.0.1:8080`, with the real port, or `unix:/a/path`.
  [[nodiscard]] std::string address() const;

  /// Ends listening, and removes the file that it has made.
  void close() noexcept;

 private:
  void listen_at_path(boost::asio::io_context& io, const std::string& path);
  void listen_at_port(const Options& options);

  StreamAcceptor acceptor_;
  std::string path_;
  std::optional<FileIdentity> file_;  ///< at the path, that it has made
  bool is_inherited_ = false;
};

}  // namespace heistd
