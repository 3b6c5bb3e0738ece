// MicrotaskQueue: the loop's single FIFO of microtasks.
#pragma once

#include <heist/detail/loop_node.hpp>

namespace HEIST_NAMESPACE::detail {

/// Thread: the agent.   It does not own its nodes.   Spec: [html#microtask-queue].
class MicrotaskQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }

  void push(LoopNode& node) noexcept {
    node.next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = &node;
    tail_ = &node;
  }

  /// Precondition, of both: not empty.
  [[nodiscard]] LoopNode& front() const noexcept { return *head_; }
  [[nodiscard]] LoopNode& pop() noexcept {
    LoopNode& first = *head_;
    head_ = first.next;
    return first;
  }

 private:
  LoopNode* head_ = nullptr;
  LoopNode* tail_ = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
