// Depot: free nodes of one size, shared by all threads, kept in batches.
//
// Roles   any thread puts and takes; none is special.
// States  A batch is fresh (never used), full (on full_), spare (on spare_), or held by the one
//         thread between its pop and its push. A stack word is {tag, index + 1}; index part 0:
//         empty.
// I1      A batch's nodes and count are touched only by the thread that holds it.
// I2      Batches live in a table that never moves or goes away, so `link` may be read by a thread
//         whose pop then fails; every successful push or pop raises the tag, so a word that comes
//         back to the same index does not compare equal (ABA). The tag has 32 bits: a thread would
//         have to stall through exactly a multiple of 2^32 operations between its load and its CAS.
// E1      put() CAS on full_ release (depot:put) -> take() load and CAS acquire (depot:take).
// Carries
//         the batch with its link, and everything done to its nodes before they were released.
// E2      take() CAS on spare_ release (depot:vacate) -> put() load and CAS acquire (depot:refill).
//         Carries the link, and the end of the taker's reads of the batch.
//         All writes to a stack word are RMWs, so they prolong one release sequence: the popper of
//         a lower batch is ordered after its pusher, too.
// Reclamation  none: the table belongs to whoever made the depot, and outlives it.
// Progress     lock-free; no allocation; neither call fails for want of memory.
// Bound        capacity batches; a full depot refuses (put returns false).
// Approximate  take() may find nothing while another thread is between its two CASes: the caller
//         allocates, which is harmless.
// Proof   stress/node_pool_stress.cpp, tests/concurrent/node_pool_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <heist/sync.hpp>
#include <span>

namespace heist {

/// Up to 31 nodes on their way between threads; with its link it is four cache lines.
struct alignas(64) NodeBatch {
  static constexpr std::size_t capacity = 31;

  sync::atomic<std::uint32_t> link{0};
  std::uint32_t count = 0;
  void* nodes[capacity] = {};
};
static_assert(sizeof(NodeBatch) == 256);

/// Bounded LIFO of node batches: what was released last is handed out first, while it is in a
/// cache.
class alignas(64) Depot {
 public:
  explicit constexpr Depot(std::span<NodeBatch> table) noexcept : table_(table) {}
  Depot(const Depot&) = delete;
  Depot& operator=(const Depot&) = delete;

  /// Takes over `nodes` (NodeBatch::capacity at the most).
  ///
  /// Thread:  any.   Blocks: never.   Errors: false when the depot is full, nothing changed.
  [[nodiscard]] bool put(std::span<void* const> nodes) noexcept {
    const std::uint32_t position = vacant_batch();
    if (position == none) return false;
    NodeBatch& batch = at(position);
    batch.count = static_cast<std::uint32_t>(nodes.size());
    std::ranges::copy(nodes, batch.nodes);
    push(full_, position, sync::edge("depot:put", sync::release));
    return true;
  }

  /// Copies one batch to `out`, which has room for NodeBatch::capacity; returns how many nodes.
  ///
  /// Thread:  any.   Blocks: never.   Errors: 0 when no batch was found.
  [[nodiscard]] std::size_t take(void** out) noexcept {
    const std::uint32_t position = pop(full_, sync::edge("depot:take", sync::acquire));
    if (position == none) return 0;
    const NodeBatch& batch = at(position);
    const std::size_t count = batch.count;
    std::copy_n(batch.nodes, count, out);
    push(spare_, position, sync::edge("depot:vacate", sync::release));
    return count;
  }

 private:
  using Word = sync::atomic<std::uint64_t>;
  static constexpr std::uint32_t none = 0;  // positions count from 1

  static constexpr std::uint32_t position_in(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::uint64_t successor(std::uint64_t word, std::uint32_t position) noexcept {
    return (((word >> 32) + 1) << 32) | position;
  }

  NodeBatch& at(std::uint32_t position) noexcept { return table_[position - 1]; }

  std::uint32_t vacant_batch() noexcept {
    const std::uint32_t spare = pop(spare_, sync::edge("depot:refill", sync::acquire));
    return spare != none ? spare : fresh_batch();
  }

  std::uint32_t fresh_batch() noexcept {
    std::uint32_t used = used_.load(sync::relaxed);  // relaxed: the CAS re-checks
    while (used < table_.size()) {
      // relaxed: a fresh batch carries nothing from another thread
      if (used_.compare_exchange_weak(used, used + 1, sync::relaxed, sync::relaxed)) {
        return used + 1;
      }
    }
    return none;
  }

  void push(Word& stack, std::uint32_t position, std::memory_order publish) noexcept {
    std::uint64_t word = stack.load(sync::relaxed);  // relaxed: never followed, the CAS re-checks
    do {
      at(position).link.store(position_in(word), sync::relaxed);  // relaxed: published by the CAS
    } while (!stack.compare_exchange_weak(word, successor(word, position), publish,
                                          sync::relaxed));  // relaxed: a failure only retries
  }

  std::uint32_t pop(Word& stack, std::memory_order observe) noexcept {
    std::uint64_t word = stack.load(observe);
    while (position_in(word) != none) {
      // relaxed: no older than the push that `observe` saw; if it is of a later push, the tag has
      // moved on and the CAS fails (I2)
      const std::uint32_t below = at(position_in(word)).link.load(sync::relaxed);
      if (stack.compare_exchange_weak(word, successor(word, below), observe, observe)) {
        return position_in(word);
      }
    }
    return none;
  }

  // One line on purpose: each operation changes both words.
  Word full_{0};
  Word spare_{0};
  sync::atomic<std::uint32_t> used_{0};
  std::span<NodeBatch> table_;
};

}  // namespace heist
