// RequestDigest: by which a repeated request is known again.
#pragma once

#include <openssl/evp.h>

#include <heistd/journal/job_record.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace heistd {

/// SHA-256 of a request's target and body, beside the idempotency key that came with it.
class RequestDigest {
 public:
  /// Errors: std::bad_alloc, here and below.
  RequestDigest(std::string_view key, std::string_view target);

  /// The next bytes of the body.
  void add(std::string_view bytes);
  /// Nothing may be added any more.
  [[nodiscard]] IdempotencyKey finish();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  };

  std::string key_;
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

/// Whether a text can be an idempotency key: 1 to 255 characters that show, of ASCII.
[[nodiscard]] bool is_idempotency_key(std::string_view text) noexcept;

}  // namespace heistd
