// Node pool: the memory behind heist/detail/node_memory.hpp, and figures on its use of the backing
// allocator.
#pragma once

#include <cstdint>
#include <heist/detail/node_memory.hpp>

namespace HEIST_NAMESPACE::detail {

// allocate_node(bytes) returns memory that is aligned to the largest power of two that divides
// `bytes`, from 16 up to 64. So it suits every type of that size, and a node of 64 bytes is one
// cache line.
// Cost    No atomics: a pop from this thread's cache, or a push to it. About once in 64 calls nodes
//         come from the depot of the size class or go to it, with a few RMWs. The pool asks for new
//         memory in chunks of 512 KiB, and for each node above 640 bytes. Releasing never depends
//         on an allocation: a thread that gets no cache does without one.
// Bound   128 free nodes of each size class in a thread, 64 MiB of free nodes in a depot. What is
//         free beyond that goes back to the system in slabs of 64 KiB. (Where the system's pages
//         have 64 KiB, too, nothing goes back.)

/// What the pool has asked of the system and given back since the process began.
struct NodePoolStats {
  /// Counts chunks of slabs, and nodes above 640 bytes.
  std::uint64_t backing_allocations = 0;
  /// Counts slabs, and nodes above 640 bytes.
  std::uint64_t backing_releases = 0;
};

/// Thread:  any. The figures are exact while no thread is in the pool; otherwise either count may
///         lag.   Blocks: never.
[[nodiscard]] NodePoolStats node_pool_stats() noexcept;

}  // namespace HEIST_NAMESPACE::detail
