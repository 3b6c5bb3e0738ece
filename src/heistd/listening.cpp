#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <heistd/addresses.hpp>
#include <heistd/listening.hpp>
#include <heistd/service_manager.hpp>

namespace heistd {
namespace {

namespace asio = boost::asio;

using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;

/// What the system keeps of one connection, each way; it takes twice as much for its own use.
/// Whoever reads nothing of a large reply holds no more than that.
constexpr int system_buffer_bytes = static_cast<int>(128 * kib);

/// A peer that is gone without a word while it waits for its job is noticed after two minutes.
void set_up_tcp(StreamAcceptor& acceptor) {
  using asio::detail::socket_option::integer;
  acceptor.set_option(Tcp::no_delay(true));
  acceptor.set_option(asio::socket_base::keep_alive(true));
  acceptor.set_option(integer<IPPROTO_TCP, TCP_KEEPIDLE>(60));
  acceptor.set_option(integer<IPPROTO_TCP, TCP_KEEPINTVL>(15));
  acceptor.set_option(integer<IPPROTO_TCP, TCP_KEEPCNT>(4));
}

/// The options are those of each connection that is accepted, too.
void set_up(StreamAcceptor& acceptor) {
  acceptor.set_option(asio::socket_base::send_buffer_size(system_buffer_bytes));
  acceptor.set_option(asio::socket_base::receive_buffer_size(system_buffer_bytes));
  if (!is_local(acceptor.local_endpoint())) set_up_tcp(acceptor);
}

/// Whether a socket is there that nobody listens at any more. A file of another kind refuses
/// connections, too. A server that stands still, with no room for a connection, listens.
bool is_left_behind(asio::io_context& io, const Local::endpoint& endpoint) {
  std::error_code none;
  if (!std::filesystem::is_socket(endpoint.path(), none)) return false;
  Local::socket socket(io, endpoint.protocol());
  socket.native_non_blocking(true);
  boost::system::error_code error;
  socket.connect(endpoint, error);
  return error == asio::error::connection_refused;
}

/// Nothing when there is no file.
std::optional<FileIdentity> identity_of(const std::string& path) noexcept {
  struct ::stat status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

}  // namespace

Listener::Listener(asio::io_context& io, const Options& options) : acceptor_(io) {
  if (const auto inherited = take_inherited_socket()) {
    acceptor_.assign(inherited->protocol, inherited->descriptor);
    is_inherited_ = true;
  } else if (!options.unix_socket.empty()) {
    listen_at_path(io, options.unix_socket);
  } else {
    listen_at_port(options);
  }
  set_up(acceptor_);
}

void Listener::listen_at_path(asio::io_context& io, const std::string& path) {
  const Local::endpoint endpoint(path);
  acceptor_.open(endpoint.protocol());
  if (is_left_behind(io, endpoint)) ::unlink(path.c_str());
  acceptor_.bind(endpoint);
  path_ = path;
  file_ = identity_of(path);
  acceptor_.listen();
}

void Listener::listen_at_port(const Options& options) {
  const Tcp::endpoint endpoint(asio::ip::make_address(options.address), options.port);
  acceptor_.open(endpoint.protocol());
  acceptor_.set_option(asio::socket_base::reuse_address(true));
  acceptor_.bind(endpoint);
  acceptor_.listen();
}

bool Listener::is_tcp() const { return !is_local(acceptor_.local_endpoint()); }

std::string Listener::address() const { return to_text(acceptor_.local_endpoint()); }

/// The file goes first: once the socket is closed, it may be that of the next server. If somebody
/// has moved it away, the path may already be that server's.
void Listener::close() noexcept {
  if (!acceptor_.is_open()) return;
  if (file_ && identity_of(path_) == file_) ::unlink(path_.c_str());
  boost::system::error_code ignored;  // the system closes it whatever it says
  acceptor_.close(ignored);
}

}  // namespace heistd
