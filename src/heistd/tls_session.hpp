// TlsSession: TLS on one connection.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <heistd/tls_identity.hpp>
#include <heistd/tls_records.hpp>
#include <memory>

namespace heistd {

/// Encrypts and decrypts what goes over a socket that does not block. OpenSSL reads and writes the
/// socket itself, so that nothing is kept between the two.
///
/// Thread: one at a time.   Blocks: never.   Lifetime: shorter than the socket's.
class TlsSession {
 public:
  using Error = boost::system::error_code;
  /// What the socket has to be ready for before a call can get on.
  enum class Wants : std::uint8_t { nothing, reading, writing };
  /// How far a call has come. One that wants something is made again, with the same bytes, when
  /// the socket is ready.
  struct Step {
    std::size_t bytes = 0;
    Error error;
    Wants wants = Wants::nothing;
  };

  /// Errors: std::bad_alloc.
  TlsSession(const TlsIdentity& identity, int socket);

  /// Agrees with the client on keys.   Cost: a millisecond of the processor, or two with a key of
  /// RSA.
  [[nodiscard]] Step shake_hands();
  /// Whether the client has sent a request of HTTP instead.
  [[nodiscard]] bool was_spoken_to_plainly() const noexcept { return is_plain_; }

  /// Errors: asio::error::eof when the client has ended its side.
  [[nodiscard]] Step read(boost::asio::mutable_buffer room);

  /// Writes the records that the socket takes, 16 of them at the most, so that other connections
  /// get their turns.
  template <class Buffers>
  [[nodiscard]] Step write(const Buffers& buffers);

  /// Tells the client that nothing more will come, if the socket takes that now.
  void end() noexcept;

  /// Says nothing at the end, as nobody listens.
  void give_up() noexcept { may_end_ = false; }

 private:
  static constexpr int records_at_a_time = 16;

  [[nodiscard]] Step write_record(boost::asio::const_buffer record);
  [[nodiscard]] Step step_of(int result, std::size_t bytes);

  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  bool may_end_ = false;
  bool is_plain_ = false;
};

template <class Buffers>
TlsSession::Step TlsSession::write(const Buffers& buffers) {
  TlsRecords<Buffers> records(buffers);
  Step all;
  for (int i = 0; i < records_at_a_time; ++i) {
    const auto record = records.next();
    if (record.size() == 0) break;
    const auto step = write_record(record);
    all.bytes += step.bytes;
    all.error = step.error;
    all.wants = step.wants;
    if (step.bytes < record.size()) break;
  }
  return all;
}

}  // namespace heistd
