#include <openssl/evp.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <heistd/hex.hpp>
#include <heistd/list_cursor.hpp>
#include <memory>
#include <new>
#include <system_error>

namespace heistd {
namespace {

using CursorBytes = std::array<unsigned char, 16>;
enum class CursorWay : int { open = 0, seal = 1 };

/// Numbers of one block, of which the second is zero in what was sealed.
using CursorNumbers = std::array<std::uint64_t, 2>;

/// One block of AES. Only memory can be missing, as every OpenSSL has that.
CursorBytes crypt_block(const CursorBytes& key, const CursorBytes& bytes, CursorWay direction) {
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
  };
  const std::unique_ptr<EVP_CIPHER_CTX, Free> context(EVP_CIPHER_CTX_new());
  CursorBytes result{};
  int size = 0;
  const bool done = context &&
                    EVP_CipherInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, key.data(),
                                      nullptr, static_cast<int>(direction)) == 1 &&
                    EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1 &&
                    EVP_CipherUpdate(context.get(), result.data(), &size, bytes.data(),
                                     static_cast<int>(bytes.size())) == 1;
  if (!done) throw std::bad_alloc();
  return result;
}

std::optional<CursorBytes> from_hex(std::string_view text) {
  CursorBytes bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (auto& byte : bytes) {
    const auto* const end = text.data() + 2;
    const auto [stop, error] = std::from_chars(text.data(), end, byte, 16);
    if (error != std::errc() || stop != end) return std::nullopt;
    text.remove_prefix(2);
  }
  return bytes;
}

}  // namespace

ListCursor::ListCursor() {
  if (::getrandom(key_.data(), key_.size(), 0) != static_cast<ssize_t>(key_.size())) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

std::string ListCursor::seal(AcceptanceOrder order) const {
  return to_hex(
      crypt_block(key_, std::bit_cast<CursorBytes>(CursorNumbers{order, 0}), CursorWay::seal));
}

std::optional<AcceptanceOrder> ListCursor::open(std::string_view text) const {
  const auto bytes = from_hex(text);
  if (!bytes) return std::nullopt;
  const auto block = std::bit_cast<CursorNumbers>(crypt_block(key_, *bytes, CursorWay::open));
  return block[1] == 0 ? std::optional(block[0]) : std::nullopt;
}

}  // namespace heistd
