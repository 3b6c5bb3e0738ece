// Wire: a connection's socket, with TLS on it or without.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <heistd/stream.hpp>
#include <heistd/tls_session.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace heistd {

/// The one place where connections with TLS and without differ: a stream as Asio and Beast want it.
/// Without TLS each call is the socket's own.
///
/// Thread: its connection's; one operation at a time.   Lifetime: longer than its operations.
class Wire {
 public:
  using executor_type = Stream::socket::executor_type;
  using Error = boost::system::error_code;

  /// Without an identity there is no TLS.   Errors: std::bad_alloc.
  Wire(Stream::socket socket, const std::shared_ptr<const TlsIdentity>& identity)
      : socket_(std::move(socket)) {
    if (identity) tls_.emplace(*identity, socket_.native_handle());
    Error ignored;
    socket_.non_blocking(true, ignored);
  }

  [[nodiscard]] executor_type get_executor() noexcept { return socket_.get_executor(); }
  /// For what is not reading or writing.
  [[nodiscard]] Stream::socket& socket() noexcept { return socket_; }

  [[nodiscard]] bool has_tls() const noexcept { return tls_.has_value(); }
  /// Where has_tls(), before anything is read or written.
  template <class Token>
  auto async_handshake(Token&& token) {
    return async_step([this] { return tls_->shake_hands(); }, std::forward<Token>(token));
  }
  /// Goes on without TLS, if the client has begun to speak without it.
  bool fall_back() noexcept {
    if (!tls_->was_spoken_to_plainly()) return false;
    tls_.reset();
    return true;
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (!tls_) return socket_.async_read_some(buffers, std::forward<Token>(token));
    const boost::asio::mutable_buffer first(*boost::asio::buffer_sequence_begin(buffers));
    return async_step([this, first] { return tls_->read(first); }, std::forward<Token>(token));
  }
  /// Both kinds of reading as one type, for who begins it later.
  template <class Buffers>
  auto async_read_some(const Buffers& buffers, boost::asio::deferred_t token) {
    return boost::asio::async_initiate<boost::asio::deferred_t, void(Error, std::size_t)>(
        [this](auto handler, const auto& room) { this->async_read_some(room, std::move(handler)); },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (!tls_) return socket_.async_write_some(buffers, std::forward<Token>(token));
    return async_step([this, buffers] { return tls_->write(buffers); }, std::forward<Token>(token));
  }
  /// What the system takes at once.   Errors: asio::error::would_block when that is nothing.
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, Error& error) {
    if (!tls_) return socket_.write_some(buffers, error);
    const auto step = tls_->write(buffers);
    const bool waits = step.bytes == 0 && step.wants != TlsSession::Wants::nothing;
    error = waits ? Error(boost::asio::error::would_block) : step.error;
    return step.bytes;
  }

  /// Tells the client that nothing more will come.
  void end_sending() noexcept {
    if (tls_) tls_->end();
    Error ignored;
    socket_.shutdown(Stream::socket::shutdown_send, ignored);
  }
  void close() noexcept {
    if (tls_) tls_->end();
    Error ignored;
    socket_.close(ignored);
  }
  /// Has close() throw away what the client has not taken.
  void give_up() noexcept {
    if (tls_) tls_->give_up();
    Error ignored;
    socket_.set_option(Stream::socket::linger(true, 0), ignored);
  }

 private:
  /// A step of TLS, again and again until it gets on. As with a socket, its end is posted.
  template <class Step>
  struct Stepping {
    Stream::socket& socket;
    Step step;
    std::optional<TlsSession::Step> done;

    template <class Self>
    void operator()(Self& self, Error error = {}) {
      if (done) return self.complete(done->error, done->bytes);
      if (error) return self.complete(error, 0);
      const auto now = step();
      const bool waits = now.bytes == 0 && !now.error;
      if (waits && now.wants == TlsSession::Wants::reading) {
        socket.async_wait(Stream::socket::wait_read, std::move(self));
      } else if (waits && now.wants == TlsSession::Wants::writing) {
        socket.async_wait(Stream::socket::wait_write, std::move(self));
      } else {
        done = now;
        boost::asio::post(socket.get_executor(), std::move(self));
      }
    }
  };

  template <class Step, class Token>
  auto async_step(Step step, Token&& token) {
    return boost::asio::async_compose<Token, void(Error, std::size_t)>(
        Stepping<Step>{socket_, std::move(step), std::nullopt}, token, socket_);
  }

  Stream::socket socket_;
  std::optional<TlsSession> tls_;  ///< ends before the socket
};

}  // namespace heistd
