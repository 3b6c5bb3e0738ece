// Depot: keeps the free nodes of one size for all threads.
//
// Nodes live in slabs of 64 KiB; a slab's header has a bit for each of its nodes, set while the
// node is free here. A released node goes back to its own slab, and a taker gets the nodes of a
// word of 64 in the order of their addresses. So a walk over new nodes walks over memory in order,
// word by word, however long these nodes have wandered between threads. (A store of free addresses
// would mix them up for good; docs/adr/0003.)
//
// Roles   giver: put(). taker: take(). Any thread may be either.
// States  slab: cold (on cold_, no bit set, its pages may be gone) or in use. A slab in use is
//         either listed (on available_, or held by a taker that popped it and will push or unlist
//         it) or unlisted.
// I1      A node is free (its bit is set) or has one owner: its user, a thread's cache, a taker, or
//         a trimmer that has cleared its bit. Only the owner sets the bit.
// I2      A set bit is always found. Whoever sets the first bit of a word lists the slab
//         afterwards, and the later bits of that word are found with the first. Whoever unlists a
//         slab looks at all words once more.
// I3      Slabs stay until the depot is destroyed, so a thread may read the links of a slab that
//         another thread has popped. Each change of a stack raises its tag. So the same top with
//         other links below it does not compare equal (unless a thread stalls through a multiple of
//         2^32 changes between its load and its CAS).
// Edge slab: give -> harvest. Carries all that was done to a node before its release.
// Edge slab_stack: push -> pop. Carries the header of a new slab, links, and for cold_ the end of
//         the trim. Every change of the top is an RMW and extends earlier releases.
// Edge slab: list <-> unlist. Without it a bit could be lost: a giver sets a bit, sees the slab
//         listed, and leaves; a taker, whose look at the words came before the bit, unlists the
//         slab. So both exchange `listed`: the giver after it sets the bit, the taker before its
//         second look. If the giver is first, the taker's exchange reads the giver's, so the second
//         look sees the bit. If the giver is second, it finds the slab unlisted and lists it. The
//         edge guards no plain data.
// Reclamation  pages: a slab gives them back when it is wholly free and more than `retained` bytes
//         are free; where a page is as large as a slab, it keeps it. Address space: ~Depot.
// Progress     lock-free. put() needs no memory. take() asks the system for memory only when it
//         finds no free node.
// Approximate  take() may miss a slab that is between two states, and then uses new memory. This is
//         harmless.
// Proof   stress/node_pool_stress.cpp, tests/concurrent/node_pool_test.cpp.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <heist/detail/sync.hpp>
#include <new>
#include <span>
#include <utility>

#include "address_bits.hpp"

namespace HEIST_NAMESPACE::detail {

/// The header of a slab. The slab's nodes follow it.
struct Slab {
  static constexpr std::size_t bytes = std::size_t{1} << 16;
  static constexpr std::size_t header_bytes = 256;
  static constexpr std::size_t words = 16;  // enough for nodes of 64 bytes

  sync::atomic<std::uint32_t> available_link{0};
  sync::atomic<std::uint32_t> cold_link{0};
  sync::atomic<bool> listed{false};
  Slab* next_chunk = nullptr;
  alignas(64) std::array<sync::atomic<std::uint64_t>, words> free_bits{};

  static Slab& of(void* node) noexcept {
    return *reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(node) & ~(bytes - 1));
  }
  [[nodiscard]] std::byte* nodes() noexcept {
    return reinterpret_cast<std::byte*>(this) + header_bytes;
  }

  /// The slab's address without its 16 zero bits, or 0 for no slab.
  static std::uint32_t number_of(const void* slab) noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(slab) >> 16);
  }
  static Slab* numbered(std::uint64_t word) noexcept {
    return reinterpret_cast<Slab*>((word & 0xffff'ffffU)
                                   << 16);  // NOLINT(performance-no-int-to-ptr)
  }
};
static_assert(sizeof(Slab) <= Slab::header_bytes);
static_assert(address_bits == 16 + 32, "a slab's address fits into its number");

/// A last-in, first-out stack of slabs, linked by one of their links. Its top is {tag, slab
/// number}.
class SlabStack {
 public:
  using Link = sync::atomic<std::uint32_t> Slab::*;

  explicit constexpr SlabStack(Link link) noexcept : link_(link) {}

  void push(Slab& slab) noexcept {
    std::uint64_t top = top_.load(sync::relaxed);  // relaxed: not followed, the CAS re-checks
    do {
      (slab.*link_).store(low_half(top), sync::relaxed);  // relaxed: published by the CAS
    } while (!top_.compare_exchange_weak(top, successor(top, Slab::number_of(&slab)),
                                         sync::edge("slab_stack:push", sync::release),
                                         sync::relaxed));  // relaxed: a failure only retries
  }

  [[nodiscard]] Slab* pop() noexcept {
    std::uint64_t top = top_.load(sync::edge("slab_stack:pop", sync::acquire));
    while (Slab* const slab = Slab::numbered(top)) {
      // relaxed: no older than the push just observed; if younger, the tag differs (I3)
      const std::uint32_t below = (slab->*link_).load(sync::relaxed);
      if (top_.compare_exchange_weak(top, successor(top, below),
                                     sync::edge("slab_stack:pop", sync::acquire),
                                     sync::edge("slab_stack:pop", sync::acquire))) {
        return slab;
      }
    }
    return nullptr;
  }

 private:
  static constexpr std::uint32_t low_half(std::uint64_t top) noexcept {
    return static_cast<std::uint32_t>(top);
  }
  static constexpr std::uint64_t successor(std::uint64_t top, std::uint32_t number) noexcept {
    return (((top >> 32) + 1) << 32) | number;
  }

  Link link_;
  sync::atomic<std::uint64_t> top_{0};
};

/// The depot: all slabs of one node size.
class alignas(64) Depot {
 public:
  /// take() stops once it has `enough` nodes. A slab gives whole words of 64 nodes, so take() may
  /// return up to `most`.
  static constexpr std::size_t enough = 32;
  static constexpr std::size_t most = enough - 1 + 64;
  static constexpr std::size_t slabs_in_chunk = 8;

  constexpr Depot(std::size_t node_bytes, std::size_t retained_bytes) noexcept
      : node_bytes_(node_bytes),
        slots_((Slab::bytes - Slab::header_bytes) / node_bytes),
        word_count_((slots_ + 63) / 64),
        reciprocal_((std::uint64_t{1} << 32) / node_bytes + 1),
        retained_nodes_(static_cast<std::int64_t>(retained_bytes / node_bytes)) {}
  Depot(const Depot&) = delete;
  Depot& operator=(const Depot&) = delete;

  /// Precondition: no thread uses the depot or a node of it.
  ~Depot() {
    // relaxed: see the precondition
    for (Slab* chunk = chunks_.load(sync::relaxed); chunk != nullptr;) {
      std::free(std::exchange(chunk, chunk->next_chunk));
    }
  }

  /// Takes nodes back.
  ///
  /// Thread:  any.   Blocks: never.   Errors: none.   Cost: one RMW for each word of 64 neighbours.
  void put(std::span<void* const> nodes) noexcept {
    Groups groups{};
    Group* group = groups.data();
    for (void* const node : nodes) {
      // Most nodes are neighbours of the one before.
      if (!group->has(node)) group = &group_of(node, groups);
      const std::uint64_t bit = std::uint64_t{1} << slot_of(group->first, node);
      assert((group->bits & bit) == 0 && "a node was released twice");
      group->bits |= bit;
    }
    // relaxed: a rough count that only decides when to trim
    free_nodes_.fetch_add(std::ssize(nodes), sync::relaxed);
    for (const Group& each : groups) give(each);
  }

  /// Fills `out`, which has room for `most` nodes, and returns how many it put there. The nodes of
  /// a word stand in descending order of their addresses, so that a caller that pops from the end
  /// gets them in order.
  ///
  /// Thread:  any.   Blocks: never.   Errors: 0 when there is no memory.
  [[nodiscard]] std::size_t take(void** out) noexcept {
    std::size_t count = 0;
    while (count < enough) {
      Slab* const slab = available_.pop();
      if (slab == nullptr) break;
      count = harvest(*slab, out, count);
    }
    if (count == 0) count = take_from_new(out);
    // relaxed: as in put()
    free_nodes_.fetch_sub(static_cast<std::int64_t>(count), sync::relaxed);
    return count;
  }

  /// How many chunks were asked of the system, and how many slabs gave their pages back. Thread:
  /// any.
  [[nodiscard]] std::uint64_t chunks_made() const noexcept {
    return chunks_made_.load(sync::relaxed);  // relaxed: for information
  }
  [[nodiscard]] std::uint64_t slabs_trimmed() const noexcept {
    return slabs_trimmed_.load(sync::relaxed);  // relaxed: for information
  }

 private:
  /// Nodes of one word of one slab.
  struct Group {
    Slab* slab = nullptr;
    std::size_t word = 0;
    std::uint64_t bits = 0;
    std::byte* first = nullptr;  ///< the first node of the word
    std::size_t bytes = 0;       ///< of all its nodes

    [[nodiscard]] bool has(void* node) const noexcept {
      return reinterpret_cast<std::uintptr_t>(node) - reinterpret_cast<std::uintptr_t>(first) <
             bytes;
    }
  };
  using Groups = std::array<Group, 16>;

  /// Returns the group of the node's word. If another word was there, its nodes are given back.
  [[nodiscard]] Group& group_of(void* node, Groups& groups) noexcept {
    Slab& slab = Slab::of(node);
    const std::size_t word = slot_of(slab.nodes(), node) / 64;
    Group& group = groups[(std::size_t{Slab::number_of(&slab)} * 5 + word) % groups.size()];
    if (group.slab != &slab || group.word != word) {
      give(group);
      group = {.slab = &slab,
               .word = word,
               .first = slab.nodes() + word * 64 * node_bytes_,
               .bytes = std::min<std::size_t>(slots_ - word * 64, 64) * node_bytes_};
    }
    return group;
  }
  /// How many nodes there are from `first` to the node.
  [[nodiscard]] std::size_t slot_of(const std::byte* first, const void* node) const noexcept {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(node) - first);
    const std::size_t slot = (offset * reciprocal_) >> 32;
    assert(slot * node_bytes_ == offset && "not a node of this size");
    return slot;
  }

  [[nodiscard]] std::uint64_t full_word(std::size_t word) const noexcept {
    const std::size_t rest = slots_ - word * 64;
    return rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
  }

  void give(const Group& group) noexcept {
    if (group.slab == nullptr) return;
    const std::uint64_t before = group.slab->free_bits[group.word].fetch_or(
        group.bits, sync::edge("slab:give", sync::release));
    assert((before & group.bits) == 0 && "a node was released twice");
    if (before == 0) list(*group.slab);
    // relaxed: a rough count
    if ((before | group.bits) == full_word(group.word) &&
        free_nodes_.load(sync::relaxed) > retained_nodes_) {
      trim(*group.slab);
    }
  }

  void list(Slab& slab) noexcept {
    if (!slab.listed.exchange(true, sync::edge("slab:list", sync::seq_cst))) available_.push(slab);
  }

  // Takes words until there are enough nodes, then lists or unlists the slab.
  std::size_t harvest(Slab& slab, void** out, std::size_t count) noexcept {
    for (std::size_t word = 0; word < word_count_ && count < enough; ++word) {
      if (slab.free_bits[word].load(sync::relaxed) == 0) continue;  // relaxed: see the exchange
      const std::uint64_t bits =
          slab.free_bits[word].exchange(0, sync::edge("slab:harvest", sync::acquire));
      count = append(slab, word, bits, out, count);
    }
    if (has_free(slab)) {
      available_.push(slab);
    } else {
      slab.listed.exchange(false, sync::edge("slab:unlist", sync::seq_cst));
      if (has_free(slab)) list(slab);
    }
    return count;
  }

  std::size_t append(Slab& slab, std::size_t word, std::uint64_t bits, void** out,
                     std::size_t count) const noexcept {
    std::byte* const first = slab.nodes() + word * 64 * node_bytes_;
    const std::size_t end = count + static_cast<std::size_t>(std::popcount(bits));
    for (void** place = out + end; bits != 0; bits &= bits - 1) {
      *--place = first + static_cast<std::size_t>(std::countr_zero(bits)) * node_bytes_;
    }
    return end;
  }

  [[nodiscard]] bool has_free(const Slab& slab) const noexcept {
    return std::any_of(slab.free_bits.begin(), slab.free_bits.begin() + word_count_,
                       [](const sync::atomic<std::uint64_t>& bits) {
                         // relaxed: if a giver has found the slab listed, list <-> unlist makes its
                         // bits visible here
                         return bits.load(sync::relaxed) != 0;
                       });
  }

  std::size_t take_from_new(void** out) noexcept {
    Slab* slab = cold_.pop();
    if (slab == nullptr) slab = make_chunk();
    if (slab == nullptr) return 0;
    populate(*slab);
    for (std::size_t word = 1; word < word_count_; ++word) {
      slab->free_bits[word].store(full_word(word), sync::edge("slab:give", sync::release));
    }
    // relaxed: a rough count
    free_nodes_.fetch_add(static_cast<std::int64_t>(slots_), sync::relaxed);
    list(*slab);
    return append(*slab, 0, full_word(0), out, 0);
  }

  // Asks for all pages at once, because one page fault for each costs half as much again. Older
  // kernels refuse the call. If there is no memory, the faults will report it.
  //
  // Then writes to each page. Under some hypervisors a page that its process has never touched is
  // still not mapped, and each prefetch of a node there walks the page tables in vain: some 50 ns
  // (FreeNodes).
  static void populate(Slab& slab) noexcept {
#if defined(MADV_POPULATE_WRITE)
    madvise(&slab, Slab::bytes, MADV_POPULATE_WRITE);
#endif
    auto* const bytes = reinterpret_cast<std::byte*>(&slab);
    for (std::size_t page = page_bytes(); page < Slab::bytes; page += page_bytes()) {
      const_cast<volatile std::byte&>(bytes[page]) = std::byte{0};
    }
  }

  // Returns the first slab of a new chunk. The others become cold.
  Slab* make_chunk() noexcept {
    void* memory = nullptr;
    if (posix_memalign(&memory, Slab::bytes, slabs_in_chunk * Slab::bytes) != 0) return nullptr;
    expect_short_address(memory);
    auto* const bytes = static_cast<std::byte*>(memory);
    for (std::size_t i = slabs_in_chunk; i-- > 1;) {
      cold_.push(*new (bytes + i * Slab::bytes) Slab);
    }
    auto* const first = new (memory) Slab;
    keep_chunk(*first);
    return first;
  }

  void keep_chunk(Slab& chunk) noexcept {
    chunk.next_chunk = chunks_.load(sync::relaxed);  // relaxed: only ~Depot follows it
    while (!chunks_.compare_exchange_weak(chunk.next_chunk, &chunk, sync::relaxed, sync::relaxed)) {
    }
    chunks_made_.fetch_add(1, sync::relaxed);  // relaxed: for information
  }

  // Gives the pages of a wholly free slab back, but not that of its header.
  void trim(Slab& slab) noexcept {
    if (page_bytes() >= Slab::bytes) return;  // then there is no other one
    std::array<std::uint64_t, Slab::words> taken{};
    bool whole = true;
    for (std::size_t word = 0; word < word_count_ && whole; ++word) {
      // relaxed: saves the exchange, which decides
      whole = slab.free_bits[word].load(sync::relaxed) == full_word(word);
    }
    for (std::size_t word = 0; word < word_count_ && whole; ++word) {
      taken[word] = slab.free_bits[word].exchange(0, sync::edge("slab:harvest", sync::acquire));
      whole = taken[word] == full_word(word);
    }
    if (!whole) {  // another thread has taken some: put back what was taken here
      for (std::size_t word = 0; word < word_count_; ++word) {
        if (taken[word] == 0) continue;
        slab.free_bits[word].fetch_or(taken[word], sync::edge("slab:give", sync::release));
        list(slab);
      }
      return;
    }
    madvise(reinterpret_cast<std::byte*>(&slab) + page_bytes(), Slab::bytes - page_bytes(),
            MADV_DONTNEED);
    // relaxed: a rough count, and one for information
    free_nodes_.fetch_sub(static_cast<std::int64_t>(slots_), sync::relaxed);
    slabs_trimmed_.fetch_add(1, sync::relaxed);
    cold_.push(slab);
  }

  // 4 KiB on x86-64; kernels of aarch64 may be built for 16 or 64 KiB.
  static std::size_t page_bytes() noexcept {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
  }

  const std::size_t node_bytes_;
  const std::size_t slots_;
  const std::size_t word_count_;
  const std::uint64_t reciprocal_;
  const std::int64_t retained_nodes_;
  alignas(64) SlabStack available_{&Slab::available_link};
  SlabStack cold_{&Slab::cold_link};
  sync::atomic<std::int64_t> free_nodes_{0};
  sync::atomic<Slab*> chunks_{nullptr};
  sync::atomic<std::uint64_t> chunks_made_{0};
  sync::atomic<std::uint64_t> slabs_trimmed_{0};
};

}  // namespace HEIST_NAMESPACE::detail
