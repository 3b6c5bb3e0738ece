// The node pool's public face: memory for tasks, reactions and coroutine frames.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace heist {

/// Memory for one node; recycled across threads without locks (docs/adr/0003).
///
/// Thread: any.   Blocks: never.   Errors: std::bad_alloc, nothing changed.   Cost: no allocation
///                when warm.
[[nodiscard]] void* allocate_node(std::size_t bytes);

/// Gives a node's memory back, with the size it was allocated with.
///
/// Thread: any.   Blocks: never.   Errors: none.
void release_node(void* node, std::size_t bytes) noexcept;

/// Constructs a T in a node.
template <class T, class... Args>
[[nodiscard]] T* make_node(Args&&... args) {
  static_assert(alignof(T) <= 64, "nodes are aligned to 64 bytes at the most");
  void* memory = allocate_node(sizeof(T));
  try {
    return std::construct_at(static_cast<T*>(memory), std::forward<Args>(args)...);
  } catch (...) {
    release_node(memory, sizeof(T));
    throw;
  }
}

/// Destroys a T made by make_node.
template <class T>
void destroy_node(T& node) noexcept {
  std::destroy_at(&node);
  release_node(&node, sizeof(T));
}

}  // namespace heist
