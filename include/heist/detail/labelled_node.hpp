// Nodes with a label, which stands behind the object in the same memory.
#pragma once

#include <cstddef>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/task_label.hpp>
#include <heist/version.hpp>
#include <new>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The label of a node, or none. Only whoever holds the node may ask.
[[nodiscard]] inline TaskLabel label_of(const LoopNode& node) noexcept {
  if (node.ops->label_at == 0) return {};
  const auto* const start = reinterpret_cast<const std::byte*>(&node);
  return *std::launder(reinterpret_cast<const TaskLabel*>(start + node.ops->label_at));
}

/// What a label adds to the memory of a T. It is a multiple of T's alignment, because the pool
/// aligns nodes as their sizes are.
template <class T>
inline constexpr std::size_t label_bytes = sizeof(TaskLabel) > alignof(T) ? sizeof(TaskLabel)
                                                                          : alignof(T);
template <class T>
inline constexpr std::size_t labelled_bytes = sizeof(T) + label_bytes<T>;

/// Constructs a T, which is a task, in a node with a label behind it, and tells it so.
template <class T, class... Args>
[[nodiscard]] T* make_labelled_node(const TaskLabel& label, Args&&... args) {
  static_assert(sizeof(T) % alignof(TaskLabel) == 0 && alignof(T) <= 64);
  void* memory = allocate_node(labelled_bytes<T>);
  try {
    T* const task = ::new (memory) T(std::forward<Args>(args)...);
    ::new (static_cast<void*>(task + 1)) TaskLabel(label);
    task->be_labelled();
    return task;
  } catch (...) {
    release_node(memory, labelled_bytes<T>);
    throw;
  }
}

/// Destroys a T that make_node or make_labelled_node has made.
template <class T>
void destroy_perhaps_labelled(T& node) noexcept {
  const std::size_t bytes = node.ops->label_at == 0 ? sizeof(T) : labelled_bytes<T>;
  node.~T();
  release_node(&node, bytes);
}

}  // namespace HEIST_NAMESPACE::detail
