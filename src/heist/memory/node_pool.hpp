// Node pool: the memory behind heist/detail/node_memory.hpp, and what it asks of its backing
// allocator.
#pragma once

#include <cstdint>
#include <heist/detail/node_memory.hpp>

namespace HEIST_NAMESPACE::detail {

// allocate_node(bytes): aligned to the largest power of two that divides `bytes`, from 16 up to 64,
// so it suits every type of that size; a node of 64 bytes is one cache line.
// Cost    no atomics: a pop from or a push to this thread's cache. Once in some 64 calls nodes come
//         from or go to the depot of the size class (a few RMWs). New memory is asked for 512 KiB
//         at a time, and for each node above 640 bytes. Releasing never allocates in a way that can
//         fail: a thread that gets no cache does without one.
// Bound   128 free nodes of each size class in a thread, 64 MiB of them in a depot; what is free
//         beyond that goes back to the system by slabs of 64 KiB.

/// What the pool asked of the system, and gave back, since the process began.
struct NodePoolStats {
  /// Chunks of slabs, and nodes above 640 bytes.
  std::uint64_t backing_allocations = 0;
  /// Slabs, and nodes above 640 bytes.
  std::uint64_t backing_releases = 0;
};

/// Thread:  any; exact while no thread is in the pool, else either count may lag.   Blocks: never.
[[nodiscard]] NodePoolStats node_pool_stats() noexcept;

}  // namespace HEIST_NAMESPACE::detail
