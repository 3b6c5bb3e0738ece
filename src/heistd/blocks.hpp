// Blocks: bytes kept in pieces, so that no step copies or frees much at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heistd {

using Blocks = std::vector<std::string>;
/// Blocks that no longer change; replies and kept results share them.
using SharedBlocks = std::shared_ptr<const Blocks>;

[[nodiscard]] inline std::size_t byte_count(const Blocks& blocks) noexcept {
  std::size_t bytes = 0;
  for (const auto& block : blocks) bytes += block.size();
  return bytes;
}

/// The memory that shared blocks have, used or not, with what the allocator adds to each piece.
[[nodiscard]] inline std::size_t held_bytes(const Blocks& blocks) noexcept {
  constexpr std::size_t added = 24;
  std::size_t bytes = sizeof(Blocks) + 2 * added + blocks.capacity() * sizeof(std::string) + added;
  for (const auto& block : blocks) bytes += block.capacity() + added;
  return bytes;
}

/// Some of the bytes of something.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// A text of which the middle may be a kept result: that is shared and never copied.
struct Body {
  std::string before;
  SharedBlocks shared = nullptr;
  std::string after = {};
  std::optional<ByteRange> part = {};  ///< of these bytes; empty: all of them

  [[nodiscard]] std::size_t size() const noexcept {
    if (part) return part->size;
    return before.size() + (shared ? byte_count(*shared) : 0) + after.size();
  }
};

}  // namespace heistd
