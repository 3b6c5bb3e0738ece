// The node pool's public face: memory for tasks, reactions and coroutine frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>
#include <new>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The sizes in which nodes are recycled.
inline constexpr std::array<std::size_t, 9> node_class_bytes{64,  96,  128, 160, 192,
                                                             256, 384, 512, 640};
inline constexpr std::size_t largest_node_class = node_class_bytes.back();

/// Number of the smallest size that holds the bytes.   Errors: precondition: they are not above the
/// largest one.
[[nodiscard]] constexpr std::uint8_t node_class_of(std::size_t bytes) noexcept {
  std::uint8_t number = 0;
  while (node_class_bytes[number] < bytes) ++number;
  return number;
}

/// Memory for one node. It is recycled across threads without locks (docs/adr/0003).
///
/// Thread: any.   Blocks: never.   Errors: std::bad_alloc, nothing changed.   Cost: no allocation
///                when warm.
[[nodiscard]] HEIST_EXPORT void* allocate_node(std::size_t bytes);

/// Gives a node's memory back, with the size it was allocated with.
///
/// Thread: any.   Blocks: never.   Errors: none.
HEIST_EXPORT void release_node(void* node, std::size_t bytes) noexcept;

/// The same for callers that know the size at compile time; `node_class` is node_class_of(bytes).
[[nodiscard]] HEIST_EXPORT void* allocate_node(std::size_t bytes, std::uint8_t node_class);
HEIST_EXPORT void release_node(void* node, std::size_t bytes, std::uint8_t node_class) noexcept;

/// Memory for a T.   Errors: std::bad_alloc.
template <class T>
[[nodiscard]] void* allocate_node_for() {
  if constexpr (sizeof(T) > largest_node_class)
    return allocate_node(sizeof(T));
  else
    return allocate_node(sizeof(T), node_class_of(sizeof(T)));
}
template <class T>
void release_node_for(void* node) noexcept {
  if constexpr (sizeof(T) > largest_node_class)
    release_node(node, sizeof(T));
  else
    release_node(node, sizeof(T), node_class_of(sizeof(T)));
}

/// Constructs a T in a node.
template <class T, class... Args>
[[nodiscard]] T* make_node(Args&&... args) {
  static_assert(alignof(T) <= 64, "nodes are aligned to 64 bytes at the most");
  void* memory = allocate_node_for<T>();
  try {
    return ::new (memory) T(std::forward<Args>(args)...);
  } catch (...) {
    release_node_for<T>(memory);
    throw;
  }
}

/// Destroys a T made by make_node.
template <class T>
void destroy_node(T& node) noexcept {
  node.~T();
  release_node_for<T>(&node);
}

}  // namespace HEIST_NAMESPACE::detail
