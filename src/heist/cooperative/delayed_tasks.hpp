// DelayedTasks: the tasks of a cooperative scheduler whose delay is not over, in the order in which
// they start.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <heist/version.hpp>
#include <utility>

#include "../task/pairing_heap.hpp"
#include "cooperative_task_node.hpp"

namespace HEIST_NAMESPACE::detail {

/// Gives tasks in the order of (start, id). Those that start soon stand in a heap, all others in
/// slots without an order, as in a TimerWheel: in a large heap each step would be a cache miss.
/// When the heap is empty the first slot is spread over finer ones, until a few tasks are first.
///
/// I1  The tasks of the heap start before bound_, all others at bound_ or later. Both counts are
///     of moments, so tasks of one moment are together, and it is the heap that orders them.
/// I2  A task in a slot is on the level of the highest base-64 digit in which its moment differs
///     from base_, which is less than bound_. So the first slot of the lowest level is the first.
/// Bound  A task moves down at most eight times. Nothing is allocated.
class DelayedTasks {
 public:
  /// Null when there is none.
  [[nodiscard]] CooperativeTaskNode* top() const noexcept { return first_; }

  void insert(CooperativeTaskNode& task, Milliseconds now) noexcept {
    if (first_ == nullptr) begin_at(moment_of(now));
    place(task);
    if (first_ == nullptr || starts_before(task, *first_)) first_ = &task;
  }

  void erase(CooperativeTaskNode& task) noexcept {
    moment_of(task.start) < bound_ ? near_.erase(task) : take(task);
    if (&task != first_) return;
    while (near_.top() == nullptr && levels_ != 0) spread_first_slot();
    first_ = near_.top();
  }

 private:
  using Moment = std::uint64_t;  ///< a time in units of 1/1024 ms
  static constexpr unsigned digit_bits = 6;
  static constexpr unsigned level_count = 9;
  static constexpr unsigned slots_per_level = 1U << digit_bits;
  static constexpr Moment last_moment = (Moment{1} << (digit_bits * level_count)) - 2;
  /// So many tasks of a slot go to the heap, whatever their moments.
  static constexpr unsigned few = 32;

  struct Position {
    unsigned level;
    unsigned slot;
  };
  struct Span {
    Moment first;
    Moment last;
    unsigned count;
  };

  /// What lies outside of the moments shares the first or the last one.
  static Moment moment_of(Milliseconds time) noexcept {
    constexpr double moments_per_ms = 1024;
    const double moments = time.count() * moments_per_ms;
    if (!(moments > 0)) return 0;
    return moments < static_cast<double>(last_moment) ? static_cast<Moment>(moments) : last_moment;
  }
  static CooperativeTaskNode& of(LoopNode& node) noexcept {
    return static_cast<CooperativeTaskNode&>(node);
  }
  [[nodiscard]] Position position_of(Moment moment) const noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(moment ^ base_));
    const unsigned level = (width - 1) / digit_bits;
    return {level, static_cast<unsigned>(moment >> (level * digit_bits)) % slots_per_level};
  }
  void begin_at(Moment moment) noexcept {
    base_ = moment;
    bound_ = moment + 1;
  }

  void place(CooperativeTaskNode& task) noexcept {
    const Moment moment = moment_of(task.start);
    if (moment < bound_) return near_.insert(task);
    const auto [level, slot] = position_of(moment);
    LoopNode*& first = slots_[level][slot];
    task.prev = nullptr;
    task.next = std::exchange(first, &task);
    if (task.next != nullptr) task.next->prev = &task;
    occupied_[level] |= std::uint64_t{1} << slot;
    levels_ |= 1U << level;
  }
  void take(CooperativeTaskNode& task) noexcept {
    if (task.next != nullptr) task.next->prev = task.prev;
    if (task.prev != nullptr) {
      task.prev->next = task.next;
      return;
    }
    const Position position = position_of(moment_of(task.start));
    slots_[position.level][position.slot] = task.next;
    if (task.next == nullptr) mark_empty(position);
  }
  void mark_empty(Position position) noexcept {
    occupied_[position.level] &= ~(std::uint64_t{1} << position.slot);
    if (occupied_[position.level] == 0) levels_ &= ~(1U << position.level);
  }

  [[nodiscard]] LoopNode* take_first_slot() noexcept {
    const auto level = static_cast<unsigned>(std::countr_zero(levels_));
    const auto slot = static_cast<unsigned>(std::countr_zero(occupied_[level]));
    mark_empty({level, slot});
    return std::exchange(slots_[level][slot], nullptr);
  }
  static Span span_of(LoopNode* list) noexcept {
    Span span{.first = last_moment, .last = 0, .count = 0};
    for (; list != nullptr; list = list->next, ++span.count) {
      const Moment moment = moment_of(of(*list).start);
      span.first = std::min(span.first, moment);
      span.last = std::max(span.last, moment);
    }
    return span;
  }
  /// Moves the tasks of the first slot to lower levels, and those that are first to the heap.
  void spread_first_slot() noexcept {
    LoopNode* list = take_first_slot();
    const Span span = span_of(list);
    base_ = span.first;
    bound_ = (span.count <= few ? span.last : span.first) + 1;
    while (list != nullptr) place(of(*std::exchange(list, list->next)));
  }

  CooperativeTaskNode* first_ = nullptr;
  PairingHeap<CooperativeTaskNode, &starts_before> near_;
  Moment base_ = 0;
  Moment bound_ = 1;
  unsigned levels_ = 0;  ///< Bit l: level l has an occupied slot.
  std::array<std::uint64_t, level_count> occupied_{};
  std::array<std::array<LoopNode*, slots_per_level>, level_count> slots_{};
};

}  // namespace HEIST_NAMESPACE::detail
