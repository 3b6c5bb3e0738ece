// The node pool's public face: memory for tasks, reactions and coroutine frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/node_cache.hpp>
#include <heist/version.hpp>
#include <new>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// For each size in granules, the number of the class. (It is no local of the function, because g++
/// would make it anew on the stack in each call.)
inline constexpr std::size_t node_granule = 32;
inline constexpr auto node_class_by_granules = [] {
  std::array<std::uint8_t, largest_node_class / node_granule + 1> table{};
  std::uint8_t number = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i * node_granule > node_class_bytes[number]) ++number;
    table[i] = number;
  }
  return table;
}();

/// Number of the smallest size that holds the bytes.   Errors: precondition: they are not above the
/// largest one.
[[nodiscard]] constexpr std::uint8_t node_class_of(std::size_t bytes) noexcept {
  return node_class_by_granules[(bytes + node_granule - 1) / node_granule];
}

/// What allocate_node() and release_node() do when the thread's cache does not help.
[[nodiscard]] HEIST_EXPORT void* allocate_node_elsewhere(std::size_t bytes);
HEIST_EXPORT void release_node_elsewhere(void* node, std::size_t bytes) noexcept;

#if defined(HEIST_COUNTED)
inline constexpr bool counts_nodes = true;  // where the linker can see each call
#else
inline constexpr bool counts_nodes = false;
#endif

/// Memory for one node. It is recycled across threads without locks (docs/adr/0003).
///
/// `is_recent`: the thread released the next nodes itself, not long ago, as it does with the frames
/// of calls. Then nothing is prefetched, which would cost 1 ns and more.
///
/// Thread: any.   Blocks: never.   Errors: std::bad_alloc, nothing changed.   Cost: no allocation
///                when warm.
[[nodiscard, gnu::always_inline]] inline void* allocate_node(std::size_t bytes,
                                                             bool is_recent = false) {
  if (bytes > largest_node_class || counts_nodes) [[unlikely]]
    return allocate_node_elsewhere(bytes);
  FreeNodes& free = (*node_cache)[node_class_of(bytes)];
  if (free.is_empty()) [[unlikely]]
    return allocate_node_elsewhere(bytes);
  void* const node = free.pop();
  if (!is_recent) free.prefetch();
  return node;
}

/// Gives a node's memory back, with the size it was allocated with.
///
/// Thread: any.   Blocks: never.   Errors: none.
[[gnu::always_inline]] inline void release_node(void* node, std::size_t bytes) noexcept {
  if (bytes > largest_node_class) [[unlikely]]
    return release_node_elsewhere(node, bytes);
  FreeNodes& free = (*node_cache)[node_class_of(bytes)];
  if (free.is_full()) [[unlikely]]
    return release_node_elsewhere(node, bytes);
  free.push(node);
}

/// Constructs a T in a node.
template <class T, class... Args>
[[nodiscard]] T* make_node(Args&&... args) {
  static_assert(alignof(T) <= 64, "nodes are aligned to 64 bytes at the most");
  void* memory = allocate_node(sizeof(T));
  try {
    return ::new (memory) T(std::forward<Args>(args)...);
  } catch (...) {
    release_node(memory, sizeof(T));
    throw;
  }
}

/// Destroys a T made by make_node.
template <class T>
void destroy_node(T& node) noexcept {
  node.~T();
  release_node(&node, sizeof(T));
}

}  // namespace HEIST_NAMESPACE::detail
