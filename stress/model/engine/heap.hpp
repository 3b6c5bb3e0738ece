// Heap: the memory a model allocates, at the same addresses in each execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heist::model {

using namespace detail;

class Heap {
 public:
  struct Block {
    std::byte* begin;
    std::size_t bytes;
    const void* code;  ///< who allocated it
    bool freed;
  };

  Heap();

  /// Never the address of another block of the same execution.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, const void* code);
  [[nodiscard]] bool owns(const void* address) const noexcept;
  /// The block that begins there; null when none does.
  [[nodiscard]] Block* block_at(const void* address) noexcept;
  [[nodiscard]] const std::vector<Block>& blocks() const noexcept { return blocks_; }
  void forget_all() noexcept;

 private:
  static constexpr std::size_t capacity = std::size_t{64} << 20;

  std::byte* memory_;
  std::byte* end_;
  std::vector<Block> blocks_;
};

}  // namespace heist::model
