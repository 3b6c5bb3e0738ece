// StarvationGuard: which task of a loop has waited for too long (contract WAIT).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/priority.hpp>

#include "../task/task_queues.hpp"

namespace HEIST_NAMESPACE::detail {

/// For tasks of one priority, whose wait has a maximum: tasks have no time of their own, but at
/// picks it is noted which enqueue order comes next. What is older was runnable by then.
///
/// Agent only.
/// I1      Marks are in the order of their times and of their enqueue orders; until the maximum is
///         over they are at least a sixteenth of it apart, so that so many need no more than
///         `young` places.
/// I2      The last `late_`th is the newest whose maximum wait is over; it is not thinned out while
///         it is.
/// Bound   `places` marks. Those that tell older waits apart are thinned out when all are in use:
///         they stay near to each other by comparison with how long ago they are.
class AgeMarks {
 public:
  using Time = std::chrono::nanoseconds;

  /// Zero: no maximum.
  explicit AgeMarks(Time most) noexcept : most_(most), step_((most + Time(young - 1)) / young) {}

  [[nodiscard]] bool is_off() const noexcept { return most_ == Time::zero(); }
  /// Whether a mark is due: `next_order` is the next that a task will get.
  [[nodiscard]] bool wants_mark(Time now, std::uint64_t next_order) const noexcept {
    if (count_ == 0) return true;
    const Mark& newest = marks_[count_ - 1];
    return now - newest.time >= step_ && newest.order != next_order;
  }
  /// `oldest`: the enqueue order of the oldest task that waits.
  void mark(Time now, std::uint64_t next_order, std::uint64_t oldest) noexcept {
    note_time(now);
    if (count_ == places) forget_before(oldest);
    if (count_ == places) thin_out(now);
    marks_[count_++] = {now, next_order};
  }
  /// Once for each `now`, before what follows is asked.
  void note_time(Time now) noexcept {
    while (late_ < count_ && now - marks_[late_].time >= most_) ++late_;
  }
  /// Whether a task's maximum wait was over at the time noted. It may say no for a sixteenth of
  /// that too long.
  [[nodiscard]] bool is_late(std::uint64_t order) const noexcept {
    return late_ != 0 && order < marks_[late_ - 1].order;
  }
  /// When it was over, as nearly as the marks tell.   Precondition: is_late(order).   Cost: O(log
  /// marks).
  [[nodiscard]] Time end_of_wait(std::uint64_t order) const noexcept {
    const auto by = std::upper_bound(
        marks_.begin(), end_of_late(), order,
        [](std::uint64_t sought, const Mark& mark) { return sought < mark.order; });
    return by->time + most_;
  }

 private:
  struct Mark {
    Time time{};
    std::uint64_t order = 0;
  };
  static constexpr std::size_t young = 16;
  static constexpr std::size_t places = 64;
  using Marks = std::array<Mark, places>;

  [[nodiscard]] Marks::const_iterator end_of_late() const noexcept {
    return marks_.begin() + static_cast<std::ptrdiff_t>(late_);
  }
  void erase(std::size_t first, std::size_t count) noexcept {
    const auto at = marks_.begin() + static_cast<std::ptrdiff_t>(first);
    std::move(at + static_cast<std::ptrdiff_t>(count), marks_.end(), at);
    count_ -= count;
    late_ -= count;
  }
  /// Those that tell no task from another one any more. The newest late one stays.
  void forget_before(std::uint64_t oldest) noexcept {
    std::size_t past = 0;
    while (past + 1 < late_ && marks_[past].order <= oldest) ++past;
    erase(0, past);
  }
  /// The late one that is missed least: its neighbours are near to each other, and long ago.
  void thin_out(Time now) noexcept {
    std::size_t least = 1;
    for (std::size_t at = 2; at + 1 < late_; ++at) {
      if (miss(at, now) < miss(least, now)) least = at;
    }
    erase(least, 1);
  }
  [[nodiscard]] double miss(std::size_t at, Time now) const noexcept {
    const auto gap = marks_[at + 1].time - marks_[at - 1].time;
    return static_cast<double>(gap.count()) / static_cast<double>((now - marks_[at].time).count());
  }

  Time most_;
  Time step_;
  Marks marks_{};
  std::size_t count_ = 0;
  std::size_t late_ = 0;
};

/// What is to be picked next because it has waited for its maximum.
struct LatePick {
  int level = -1;                                                  ///< -1: there is none
  std::chrono::nanoseconds end = std::chrono::nanoseconds::max();  ///< of its maximum wait
};

/// When an agent looks for late tasks among those of its cluster: every sixteenth of the shortest
/// maximum, and at each pick while there are some.   Agent only.
class LateLooks {
 public:
  explicit LateLooks(const MaxWait& most) noexcept {
    for (const auto wait : {most.background, most.user_visible, most.user_blocking}) {
      if (wait != wait.zero()) between_ = std::min(between_, wait / 16);
    }
  }
  [[nodiscard]] bool is_due(std::chrono::nanoseconds now) const noexcept { return now >= next_; }
  void end(std::chrono::nanoseconds now, bool found) noexcept {
    next_ = found ? now : now + between_;
  }

 private:
  std::chrono::nanoseconds between_ = std::chrono::hours(1);
  std::chrono::nanoseconds next_{};
};

/// Only the agent touches it.
class StarvationGuard {
 public:
  explicit StarvationGuard(const MaxWait& most) noexcept
      : marks_{AgeMarks(most.background), AgeMarks(most.user_visible),
               AgeMarks(most.user_blocking)},
        looks_(most) {}

  [[nodiscard]] LateLooks& looks() noexcept { return looks_; }

  /// At a pick: of the tasks that have waited for their maximum the one that had done so first.
  /// Cost: O(1) while there is none, O(log marks) else.
  [[nodiscard]] LatePick find(const TaskQueues& queues, std::chrono::nanoseconds now,
                              std::uint64_t next_order) noexcept {
    LatePick found;
    for (int priority = 0; priority < level_count / 2; ++priority) {
      AgeMarks& marks = marks_[static_cast<std::size_t>(priority)];
      if (marks.is_off()) continue;
      marks.note_time(now);
      if (marks.wants_mark(now, next_order)) marks.mark(now, next_order, oldest(queues));
      consider(marks, queues, 2 * priority, found);
    }
    return found;
  }

 private:
  /// Tasks and continuations of a priority have the same maximum: the older one's is over first.
  static void consider(const AgeMarks& marks, const TaskQueues& queues, int level,
                       LatePick& found) noexcept {
    for (const int at : {level, level + 1}) {
      const SchedulerTask* task = queues.oldest_at(at);
      if (task == nullptr || !marks.is_late(task->key)) continue;
      const auto end = marks.end_of_wait(task->key);
      if (end < found.end) found = {at, end};
    }
  }
  static std::uint64_t oldest(const TaskQueues& queues) noexcept {
    std::uint64_t order = ~std::uint64_t{0};
    for (int level = 0; level < level_count; ++level) {
      if (const auto* task = queues.oldest_at(level)) order = std::min(order, task->key);
    }
    return order;
  }

  std::array<AgeMarks, level_count / 2> marks_;
  LateLooks looks_;
};

}  // namespace HEIST_NAMESPACE::detail
