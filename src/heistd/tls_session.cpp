#include <openssl/err.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <heistd/tls_session.hpp>
#include <new>

namespace heistd {
namespace {

using Error = TlsSession::Error;

/// Of a call that failed without a reason of TLS.
Error error_of_system(int code) {
  return code == 0 ? Error(boost::asio::error::eof) : Error(code, boost::system::system_category());
}

}  // namespace

TlsSession::TlsSession(const TlsIdentity& identity, int socket)
    : ssl_(SSL_new(identity.context()), &SSL_free) {
  if (!ssl_ || SSL_set_fd(ssl_.get(), socket) != 1) {
    ERR_clear_error();
    throw std::bad_alloc();
  }
  SSL_set_accept_state(ssl_.get());
}

TlsSession::Step TlsSession::shake_hands() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_.get());
  may_end_ = result == 1;
  is_plain_ = result != 1 && ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
  return step_of(result, 0);
}

TlsSession::Step TlsSession::read(boost::asio::mutable_buffer room) {
  ERR_clear_error();
  errno = 0;
  std::size_t bytes = 0;
  const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &bytes);
  return step_of(result, bytes);
}

TlsSession::Step TlsSession::write_record(boost::asio::const_buffer record) {
  ERR_clear_error();
  errno = 0;
  std::size_t bytes = 0;
  const int result = SSL_write_ex(ssl_.get(), record.data(), record.size(), &bytes);
  return step_of(result, bytes);
}

/// After an error of the socket or the protocol nothing more may be said.
TlsSession::Step TlsSession::step_of(int result, std::size_t bytes) {
  if (result == 1) return {.bytes = bytes, .error = {}};
  const int system_error = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.error = {}, .wants = Wants::reading};
    case SSL_ERROR_WANT_WRITE:
      return {.error = {}, .wants = Wants::writing};
    case SSL_ERROR_ZERO_RETURN:
      return {.error = boost::asio::error::eof};
    case SSL_ERROR_SYSCALL:
      may_end_ = false;
      return {.error = error_of_system(system_error)};
    default:
      may_end_ = false;
      return {.error = boost::system::errc::make_error_code(boost::system::errc::protocol_error)};
  }
}

void TlsSession::end() noexcept {
  if (!may_end_) return;
  may_end_ = false;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

}  // namespace heistd
