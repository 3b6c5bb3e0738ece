#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <heistd/tls_identity.hpp>
#include <new>
#include <stdexcept>
#include <system_error>

namespace heistd {
namespace {

using File = std::unique_ptr<BIO, decltype(&BIO_free_all)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

[[noreturn]] void refuse(const std::string& option, const std::string& path,
                         const std::string& what) {
  throw std::runtime_error(option + ": " + path + ": " + what);
}

/// What OpenSSL says of its last call on this thread.
std::string openssl_reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "OpenSSL gives no reason" : reason;
}

void check_readable(const std::string& option, const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (file.peek() != std::ifstream::traits_type::eof()) return;
  const auto code = errno;
  if (code == 0) refuse(option, path, "the file is empty");
  refuse(option, path,
         std::generic_category().message(code) +
             "; name a file that the user can read whom the server runs as");
}

/// Nobody is there to type it, and OpenSSL would ask the terminal.
int no_passphrase(char* /*text*/, int /*size*/, int /*writes*/, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

Key key_in(const std::string& path) {
  const File file(BIO_new_file(path.c_str(), "r"), &BIO_free_all);
  bool is_encrypted = false;
  Key key(PEM_read_bio_PrivateKey(file.get(), nullptr, &no_passphrase, &is_encrypted),
          &EVP_PKEY_free);
  if (key) return key;
  const auto reason = openssl_reason();
  if (is_encrypted) {
    refuse("--tls-key", path,
           "the key has a passphrase, which nobody can type here; 'openssl pkey' writes it without "
           "one");
  }
  refuse("--tls-key", path, "there is no private key in PEM format (" + reason + ")");
}

std::string time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "a time that cannot be read";
  std::string text(sizeof "2026-11-28 15:41:52 UTC", '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts));
  return text;
}

}  // namespace

TlsIdentity::TlsIdentity(const TlsFiles& files)
    : path_(files.certificate), context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free) {
  if (!context_) throw std::bad_alloc();
  auto* const context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // The end of a request shows without the end of its connection.
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Clients keep their sessions, in tickets: the server need not.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Connections that wait have no buffers, and each read takes as much as there is.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  read_certificate(files.certificate);
  read_key(files);
}

void TlsIdentity::read_certificate(const std::string& path) {
  check_readable("--tls-certificate", path);
  if (SSL_CTX_use_certificate_chain_file(context_.get(), path.c_str()) == 1) return;
  refuse("--tls-certificate", path,
         "there is no certificate in PEM format that can be used (" + openssl_reason() + ")");
}

void TlsIdentity::read_key(const TlsFiles& files) {
  check_readable("--tls-key", files.key);
  const auto key = key_in(files.key);
  if (X509_check_private_key(SSL_CTX_get0_certificate(context_.get()), key.get()) != 1) {
    ERR_clear_error();
    refuse("--tls-key", files.key,
           "this is not the key of the certificate in " + files.certificate +
               "; give two files that belong together");
  }
  if (SSL_CTX_use_PrivateKey(context_.get(), key.get()) == 1) return;
  refuse("--tls-key", files.key, "the key cannot be used (" + openssl_reason() + ")");
}

std::chrono::sys_seconds TlsIdentity::valid_until() const noexcept {
  std::tm parts{};
  const auto* const end = X509_get0_notAfter(SSL_CTX_get0_certificate(context_.get()));
  if (ASN1_TIME_to_tm(end, &parts) != 1) return {};
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

std::string TlsIdentity::description() const {
  const auto* const end = X509_get0_notAfter(SSL_CTX_get0_certificate(context_.get()));
  const bool has_ended = X509_cmp_current_time(end) < 0;
  return "the certificate in " + path_ +
         (has_ended ? ", which clients refuse, as it was valid until " : ", valid until ") +
         time_of(end);
}

}  // namespace heistd
