// ReadyTasks: the tasks of a cooperative scheduler that may run, in the order in which they expire.
#pragma once

#include <algorithm>
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

  /// Tells the tasks of a queue which one comes some tasks later, to fetch that into the cache when
  /// the first one leaves. Otherwise each task of a long queue would be a miss, as it is known only
  /// when the one before it was read.
  class Lookahead {
   public:
    /// The task has got its links.
    void insert(CooperativeTaskNode& task) noexcept {
      task.later = nullptr;
      if (task.next != nullptr) {
        known_ = 0;
        return;
      }
      CooperativeTaskNode*& place = latest_[count_++ % distance];
      if (known_ == distance) place->later = &task;
      known_ = std::min(known_ + 1, distance);
      place = &task;
    }
    /// The first task leaves, `left` stay.
    void fetch(const CooperativeTaskNode& leaving, std::size_t left) noexcept {
      known_ = std::min(known_, left);
      if (leaving.later == nullptr) return;
      __builtin_prefetch(leaving.later, 1);
      __builtin_prefetch(&leaving.later->callback, 1);
    }

   private:
    static constexpr std::size_t distance = 8;

    std::array<CooperativeTaskNode*, distance> latest_{};
    std::size_t count_ = 0;
    /// So many of the latest are still in the queue, and no other task stands behind or between
    /// them.
    std::size_t known_ = 0;
  };

  /// A queue that is kept sorted.
  struct Queue {
    LoopNode* first = nullptr;
    LoopNode* last = nullptr;
    std::size_t size = 0;
    Lookahead lookahead;

    /// Searches from the end, because the place is mostly there.
    void insert(CooperativeTaskNode& task) noexcept {
      LoopNode* older = last;
      while (older != nullptr && runs_before(task, of(*older))) older = older->prev;
      task.prev = older;
      task.next = std::exchange(older != nullptr ? older->next : first, &task);
      (task.next != nullptr ? task.next->prev : last) = &task;
      ++size;
      lookahead.insert(task);
    }
    void pop_front() noexcept {
      lookahead.fetch(of(*first), --size);
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
