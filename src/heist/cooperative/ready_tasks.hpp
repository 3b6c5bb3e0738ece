// ReadyTasks: the tasks of a cooperative scheduler that may run, in the order in which they expire.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <heist/version.hpp>
#include <utility>

#include "cooperative_task_node.hpp"

namespace HEIST_NAMESPACE::detail {

/// Gives tasks in the order of (expiration, id), as a heap would, but at O(1). Tasks of one level
/// expire equally long after their start. So tasks without a delay come in the order in which they
/// expire, and so do tasks whose delay is over, because these come in the order of their start. The
/// first task of all is the one among the ten queue heads that expires earliest.
///
/// (A clock that goes back, or overlapping posts of several threads, may bring some tasks out of
/// order. These are put into their place, which is searched from the end.)
class ReadyTasks {
 public:
  [[nodiscard]] bool empty() const noexcept { return occupied_ == 0; }
  /// Null when there is none.
  [[nodiscard]] CooperativeTaskNode* top() const noexcept { return top_; }
  void push(CooperativeTaskNode& task) noexcept {
    const std::size_t number = number_of(task);
    queues_[number].insert(task);
    occupied_ |= 1U << number;
    if (top_ == nullptr || runs_before(task, *top_)) top_ = &task;
  }
  /// Takes out the task that top() returns.   Precondition: not empty.
  CooperativeTaskNode& pop() noexcept {
    CooperativeTaskNode& task = *top_;
    const std::size_t number = number_of(task);
    queues_[number].pop_front();
    if (queues_[number].first == nullptr) occupied_ &= ~(1U << number);
    top_ = first_of_queues();
    return task;
  }

 private:
  static constexpr std::size_t levels = 5;

  /// A queue that is kept sorted.
  struct Queue {
    LoopNode* first = nullptr;
    LoopNode* last = nullptr;

    /// Searches from the end, because the place is mostly there.
    void insert(CooperativeTaskNode& task) noexcept {
      LoopNode* older = last;
      while (older != nullptr && runs_before(task, of(*older))) older = older->prev;
      task.prev = older;
      task.next = std::exchange(older != nullptr ? older->next : first, &task);
      (task.next != nullptr ? task.next->prev : last) = &task;
    }
    void pop_front() noexcept {
      first = first->next;
      (first != nullptr ? first->prev : last) = nullptr;
    }
  };

  [[nodiscard]] CooperativeTaskNode* first_of_queues() const noexcept {
    CooperativeTaskNode* first = nullptr;
    for (unsigned left = occupied_; left != 0; left &= left - 1) {
      auto& task = of(*queues_[static_cast<std::size_t>(std::countr_zero(left))].first);
      if (first == nullptr || runs_before(task, *first)) first = &task;
    }
    return first;
  }
  static CooperativeTaskNode& of(LoopNode& node) noexcept {
    return static_cast<CooperativeTaskNode&>(node);
  }
  static std::size_t number_of(const CooperativeTaskNode& task) noexcept {
    const auto level = static_cast<std::size_t>(task.priority) - 1;
    return task.is_delayed ? levels + level : level;
  }

  std::array<Queue, 2 * levels> queues_{};
  unsigned occupied_ = 0;
  CooperativeTaskNode* top_ = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
