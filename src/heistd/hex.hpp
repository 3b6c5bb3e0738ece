// Bytes as hexadecimal text.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heistd {

[[nodiscard]] inline std::string to_hex(std::span<const unsigned char> bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

/// What to_hex() was given.   Precondition: `text` is what that has made of so many bytes.
template <std::size_t count>
[[nodiscard]] std::array<unsigned char, count> from_hex(std::string_view text) noexcept {
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  std::array<unsigned char, count> bytes{};
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<unsigned char>(value(text[2 * i]) * 16 + value(text[2 * i + 1]));
  }
  return bytes;
}

}  // namespace heistd
