// Counts and refuses memory, and counts system calls made through syscall(2), thread by thread.
// This executable replaces global operator new, the functions the node pool gets its memory from,
// and syscall().
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heist::test {

/// What has been allocated so far.
struct Allocations {
  std::uint64_t by_new = 0;   ///< operator new, by this thread
  std::uint64_t by_pool = 0;  ///< nodes the pool asked its backing allocator for, by any thread

  friend bool operator==(const Allocations&, const Allocations&) = default;
  friend Allocations operator-(const Allocations& a, const Allocations& b) {
    return {a.by_new - b.by_new, a.by_pool - b.by_pool};
  }
};
[[nodiscard]] Allocations allocations() noexcept;

/// What `work` allocates.
template <class Work>
[[nodiscard]] Allocations allocated_by(Work&& work) {
  const Allocations before = allocations();
  std::forward<Work>(work)();
  return allocations() - before;
}

/// Bytes that are allocated at the moment, by any thread and in any way.
[[nodiscard]] std::int64_t live_bytes() noexcept;

/// Calls of syscall(2) by this thread so far.
[[nodiscard]] std::uint64_t system_calls() noexcept;

/// Whether the pool keeps nodes for re-use; with AddressSanitizer each node is allocated for
/// itself.
[[nodiscard]] bool pool_recycles() noexcept;
/// Whether allocations can be made to fail; the sanitizers' own allocators cannot.
[[nodiscard]] bool memory_can_fail() noexcept;

/// While it lives, this thread gets no memory: not from operator new, and no node of any size that
/// the pool keeps.
///
/// Precondition: memory_can_fail().
class NoMemory {
 public:
  /// `nodes`: so many of each size after all.
  explicit NoMemory(std::size_t nodes = 0);
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

 private:
  /// Lies in a node it keeps from others.
  struct Hoarded {
    Hoarded* next;
    std::size_t bytes;
  };
  void give_back(std::size_t nodes) noexcept;

  Hoarded* hoard_ = nullptr;
};

/// Whether operator new can be made to fail: clang's sanitizers bring their own.
[[nodiscard]] bool new_can_fail() noexcept;

/// While it lives, this thread gets memory from operator new so many times, then no more.
///
/// Precondition: new_can_fail(). One at a time.
class MemoryFor {
 public:
  explicit MemoryFor(std::uint64_t times) noexcept;
  ~MemoryFor();
  MemoryFor(const MemoryFor&) = delete;
  MemoryFor& operator=(const MemoryFor&) = delete;
};

}  // namespace heist::test
