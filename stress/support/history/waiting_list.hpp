// WaitingList: what waits at one level, in the order in which it began to wait. It counts what is
// older than a moment.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "../timeline.hpp"

namespace heist::stress {

/// Elements stand in blocks of 64, with a bit for each. A block's elements are freed when the last
/// of them has left, even if older ones still wait. Thread: one.
/// Cost: add and remove O(1). count_before searches the blocks by halves, and then counts the bits
/// of each block between the moment and the nearer end. A history asks near the ends.
template <class Element>
class WaitingList {
 public:
  using Place = std::uint64_t;

  /// Precondition: `since` is no earlier than that of the element added before.
  Place add(Moment since, Element element) {
    if (end_ % block_size == 0) {
      blocks_.push_back({.first = since, .elements = std::make_unique<Elements>()});
    }
    Block& block = blocks_.back();
    const Place offset = end_ % block_size;
    (*block.elements)[offset] = {since, element};
    block.waiting |= bit(offset);
    ++size_;
    return end_++;
  }

  void remove(Place place) {
    Block& block = blocks_[place / block_size - first_block_];
    block.waiting &= ~bit(place % block_size);
    --size_;
    const bool is_full = place / block_size < end_ / block_size;
    if (block.waiting == 0 && is_full) block.elements.reset();
    while (!blocks_.empty() && blocks_.front().waiting == 0 && first_block_ < end_ / block_size) {
      blocks_.pop_front();
      ++first_block_;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// How many have waited since before the moment.
  [[nodiscard]] std::size_t count_before(Moment moment) const {
    if (size_ == 0) return 0;
    const std::size_t later = first_block_from(moment);
    if (later == 0) return 0;
    const std::size_t border = count_before(blocks_[later - 1], later - 1, moment);
    if (later - 1 < blocks_.size() / 2) return count_blocks(0, later - 1) + border;
    const Block& cut = blocks_[later - 1];
    return size_ - count_blocks(later, blocks_.size()) - count(cut.waiting) + border;
  }

  /// The element that has waited longest.   Precondition: there is one.
  [[nodiscard]] Element oldest() const {
    const auto block = std::ranges::find_if(blocks_, [](const Block& b) { return b.waiting != 0; });
    return (*block->elements)[static_cast<Place>(std::countr_zero(block->waiting))].element;
  }

 private:
  static constexpr Place block_size = 64;

  struct Entry {
    Moment since = 0;
    Element element{};
  };
  using Elements = std::array<Entry, block_size>;
  struct Block {
    Moment first = 0;
    std::uint64_t waiting = 0;
    std::unique_ptr<Elements> elements;  ///< null when all have left
  };

  static std::uint64_t bit(Place offset) noexcept { return std::uint64_t{1} << offset; }
  static std::size_t count(std::uint64_t bits) noexcept {
    return static_cast<std::size_t>(std::popcount(bits));
  }

  /// The index of the first block whose elements all began at the moment or later.
  [[nodiscard]] std::size_t first_block_from(Moment moment) const {
    if (blocks_.back().first < moment) return blocks_.size();
    const auto found = std::ranges::lower_bound(blocks_, moment, {}, &Block::first);
    return static_cast<std::size_t>(found - blocks_.begin());
  }
  [[nodiscard]] std::size_t count_before(const Block& block, std::size_t index,
                                         Moment moment) const {
    if (block.waiting == 0) return 0;
    const bool is_last = index + 1 == blocks_.size() && end_ % block_size != 0;
    const auto begin = block.elements->begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(is_last ? end_ % block_size : block_size);
    const auto found = std::lower_bound(
        begin, end, moment, [](const Entry& entry, Moment m) { return entry.since < m; });
    if (found == begin + block_size) return count(block.waiting);
    return count(block.waiting & (bit(static_cast<Place>(found - begin)) - 1));
  }
  [[nodiscard]] std::size_t count_blocks(std::size_t from, std::size_t to) const {
    std::size_t sum = 0;
    for (; from < to; ++from) sum += count(blocks_[from].waiting);
    return sum;
  }

  std::deque<Block> blocks_;
  Place first_block_ = 0;  ///< how many blocks there were before blocks_.front()
  Place end_ = 0;
  std::size_t size_ = 0;
};

}  // namespace heist::stress
