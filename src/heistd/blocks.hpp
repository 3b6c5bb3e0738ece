// Blocks: bytes kept in pieces, so that no step copies or frees much at once.
#pragma once

#include <cstddef>
#include <memory>
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

[[nodiscard]] inline SharedBlocks share_text(std::string text) {
  auto blocks = std::make_shared<Blocks>();
  blocks->push_back(std::move(text));
  return blocks;
}

}  // namespace heistd
