#include "utf_8.hpp"

#include <algorithm>

namespace HEIST_NAMESPACE::detail {

namespace {

/// How many bytes the first character has; 0 when it is none.   Precondition: there is a byte.
std::size_t length_of_first(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const std::string_view rest = text.substr(1, length - 1);
  const bool is_continued =
      std::ranges::all_of(rest, [](unsigned char next) { return (next & 0xC0U) == 0x80; });
  if (rest.size() != length - 1 || !is_continued) return 0;
  // What could be written shorter, surrogates, and numbers above the last one are no characters.
  const unsigned char second = byte(1);
  const bool is_character = (lead != 0xE0 || second >= 0xA0) && (lead != 0xED || second < 0xA0) &&
                            (lead != 0xF0 || second >= 0x90) && (lead != 0xF4 || second < 0x90);
  return is_character ? length : 0;
}

}  // namespace

std::string as_utf_8(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t length = length_of_first(text);
    all += length != 0 ? text.substr(0, length) : "\uFFFD";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return all;
}

}  // namespace HEIST_NAMESPACE::detail
