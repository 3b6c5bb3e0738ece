// Counters: what a counting build has counted. Two programs are made of the same sources: one
// measures time and counts nothing, the other counts.
#pragma once

#include <cstdint>
#include <optional>

namespace bench {

struct Counters {
  std::uint64_t shared_updates = 0;  ///< read-modify-writes on lines that several threads touched
  std::uint64_t remote_lines = 0;    ///< atomic accesses that took the line from another thread
  std::uint64_t system_calls = 0;    ///< of the library
  std::uint64_t allocations = 0;     ///< calls of malloc and its like, by anybody
  std::uint64_t nodes = 0;           ///< calls of heist::detail::allocate_node
};

/// All threads together, since the start; nothing in the program that does not count.
[[nodiscard]] std::optional<Counters> counted_so_far() noexcept;

}  // namespace bench
