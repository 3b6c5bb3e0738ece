// ProtoMessage: a message in the wire format of protocol buffers, as far as a trace needs it.
#pragma once

#include <cstdint>
#include <heist/version.hpp>
#include <string>
#include <string_view>

namespace HEIST_NAMESPACE::detail {

/// Fields are added one after another. (protobuf.dev/programming-guides/encoding)
class ProtoMessage {
 public:
  using Field = std::uint32_t;

  void add(Field field, std::uint64_t number) {
    append_key(field, Wire::varint);
    append_varint(number);
  }
  void add_fixed(Field field, std::uint64_t number) {
    append_key(field, Wire::fixed64);
    for (unsigned byte = 0; byte < sizeof number; ++byte) {
      bytes_.push_back(static_cast<char>(number >> (8 * byte) & 0xFF));
    }
  }
  void add(Field field, std::string_view text) {
    append_key(field, Wire::bytes);
    append_varint(text.size());
    bytes_ += text;
  }
  void add(Field field, const ProtoMessage& message) {
    add(field, std::string_view(message.bytes_));
  }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

 private:
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2 };

  void append_key(Field field, Wire wire) { append_varint(field << 3U | static_cast<Field>(wire)); }
  void append_varint(std::uint64_t number) {
    constexpr unsigned bits = 7;
    constexpr std::uint64_t more = std::uint64_t{1} << bits;
    for (; number >= more; number >>= bits) bytes_.push_back(static_cast<char>(number | more));
    bytes_.push_back(static_cast<char>(number));
  }

  std::string bytes_;
};

}  // namespace HEIST_NAMESPACE::detail
