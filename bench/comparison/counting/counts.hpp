// What the counting program's own functions have counted, whoever called them.
#pragma once

#include <atomic>
#include <cstdint>

namespace bench {

struct Counts {
  std::atomic<std::uint64_t> system_calls{0};
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::uint64_t> nodes{0};
};

// Counted into from the first allocation on, before any constructor runs.
inline constinit Counts counts;

inline void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace bench
