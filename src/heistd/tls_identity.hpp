// TlsIdentity: the certificate that heistd shows, and its key.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <string>

namespace heistd {

/// Where they are, in PEM format.
struct TlsFiles {
  std::string certificate;  ///< with those that lead to its authority; empty: no TLS
  std::string key;

  [[nodiscard]] bool are_given() const noexcept { return !certificate.empty(); }
};

/// A certificate with its key, as they were when the files were read, and what a connection may
/// agree on: TLS 1.2 and later. A session that one of them has made cannot be gone on with under
/// another one, so whoever connects sees the certificate of now.
///
/// Thread: any, once it is made.   Lifetime: connections share what they need of it.
class TlsIdentity {
 public:
  /// Errors: std::runtime_error, which names the file and says what to do; std::bad_alloc.
  /// Blocks: until the files have been read.
  explicit TlsIdentity(const TlsFiles& files);

  /// Until when clients accept it; the epoch if that cannot be read.
  [[nodiscard]] std::chrono::sys_seconds valid_until() const noexcept;
  /// For people: which certificate it is, and until when clients accept it.
  [[nodiscard]] std::string description() const;

  /// What connections are made of.
  [[nodiscard]] SSL_CTX* context() const noexcept { return context_.get(); }

 private:
  void read_certificate(const std::string& path);
  void read_key(const TlsFiles& files);

  const std::string path_;  ///< of the certificate
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
};

}  // namespace heistd
