// Bytes as hexadecimal text.
#pragma once

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

}  // namespace heistd
