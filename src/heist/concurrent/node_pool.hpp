// Node pool: the memory behind heist/node_memory.hpp, and what it asks of its backing allocator.
#pragma once

#include <cstdint>
#include <heist/node_memory.hpp>

namespace heist {

// allocate_node(bytes): aligned to the largest power of two that divides `bytes`, from 16 up to 64,
// so it suits every type of that size; a node of 64 bytes is one cache line.
// Cost    no atomics: a pop from or a push to this thread's cache. Once in 31 calls a batch comes
// from
//         or goes to the depot of the size class (two RMWs); when that is empty or full, and always
//         above 512 bytes, the backing allocator is asked. Releasing never allocates in a way that
//         can fail: a thread that gets no cache does without one.
// Bound   62 free nodes of each size class in a thread, 2 MiB of them in a depot.

/// What the pool asked of its backing allocator since the process began, in nodes.
struct NodePoolStats {
  std::uint64_t backing_allocations = 0;
  std::uint64_t backing_releases = 0;
};

/// Thread:  any; exact while no thread is in the pool, else either count may lag.   Blocks: never.
[[nodiscard]] NodePoolStats node_pool_stats() noexcept;

}  // namespace heist
