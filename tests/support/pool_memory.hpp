// What the node pool holds, for tests of whether memory stays flat.
#pragma once

#include <cstdint>

#include "heist/memory/node_pool.hpp"

namespace heist::support {

using namespace detail;

/// How much memory the pool has from the system. With AddressSanitizer each node counts, because
/// each is allocated by itself. Otherwise chunks of 512 KiB and nodes above 640 bytes count.
inline std::int64_t held_by_pool() {
  const NodePoolStats stats = node_pool_stats();
  return static_cast<std::int64_t>(stats.backing_allocations - stats.backing_releases);
}

/// By how much that may grow while memory is flat. What a test works on is far more.
#if defined(HEIST_SANITIZER_ADDRESS)
inline constexpr std::int64_t flat = 500;
#else
inline constexpr std::int64_t flat = 3;
#endif

}  // namespace heist::support
