#include <algorithm>
#include <array>
#include <heistd/hex.hpp>
#include <heistd/request_digest.hpp>
#include <new>

namespace heistd {
namespace {

constexpr std::size_t most_key_bytes = 255;

/// Every OpenSSL has SHA-256: only memory can have been missing.
void require_memory(bool ok) {
  if (!ok) throw std::bad_alloc();
}

}  // namespace

RequestDigest::RequestDigest(std::string_view key, std::string_view target)
    : key_(key), context_(EVP_MD_CTX_new()) {
  require_memory(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  add(target);
  add(std::string_view("\0", 1));  // which no target has, so that it ends there
}

void RequestDigest::add(std::string_view bytes) {
  require_memory(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

IdempotencyKey RequestDigest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  require_memory(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) == 1);
  return {std::move(key_), to_hex({bytes.data(), size})};
}

bool is_idempotency_key(std::string_view text) noexcept {
  return !text.empty() && text.size() <= most_key_bytes &&
         std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter <= '~'; });
}

}  // namespace heistd
