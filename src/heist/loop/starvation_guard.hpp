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

/// Since when the tasks of one priority have waited. A task has no time of its own. Instead, picks
/// note from time to time which enqueue order comes next: a task with a lower one was runnable by
/// then.
///
/// Thread: the agent.
/// I1      Marks are in the order of their times and of their enqueue orders. Until the maximum
///         wait is over they are at least a sixteenth of it apart, so they need no more than
///         `young` places.
/// I2      The first late_ marks are those whose maximum wait is over. The newest of them is never
///         thinned out.
/// Bound   `places` marks. When all are in use, some of the late ones are thinned out. The gaps
///         between those that stay are small by comparison with how long ago they are.
class AgeMarks {
 public:
  using Time = std::chrono::nanoseconds;

  /// Zero means that there is no maximum.
  explicit AgeMarks(Time most) noexcept : most_(most), step_((most + Time(young - 1)) / young) {}

  [[nodiscard]] bool is_off() const noexcept { return most_ == Time::zero(); }
  /// Whether a mark is due. The next task will get the enqueue order `next_order`.
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
  /// To be called once for each `now`, before the questions below.
  void note_time(Time now) noexcept {
    while (late_ < count_ && now - marks_[late_].time >= most_) ++late_;
  }
  /// Whether a task's maximum wait was over at the time noted. The answer may turn true too late,
  /// by a sixteenth of the maximum.
  [[nodiscard]] bool is_late(std::uint64_t order) const noexcept {
    return late_ != 0 && order < marks_[late_ - 1].order;
  }
  /// When that wait was over, as nearly as the marks tell.   Precondition: is_late(order).   Cost:
  /// O(log marks).
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
  /// Drops the late marks that are older than every waiting task. The newest late one stays.
  void forget_before(std::uint64_t oldest) noexcept {
    std::size_t past = 0;
    while (past + 1 < late_ && marks_[past].order <= oldest) ++past;
    erase(0, past);
  }
  /// Drops the late mark that is missed least, as its neighbours are near to each other by
  /// comparison with how long ago it is.
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

/// Where the task is that is to be picked next because it has waited for its maximum.
struct LatePick {
  int level = -1;                                                  ///< -1: there is none
  std::chrono::nanoseconds end = std::chrono::nanoseconds::max();  ///< of its maximum wait
};

/// When an agent looks for late tasks among those of its cluster: once in a sixteenth of the
/// shortest maximum, and at each pick while it finds some.   Thread: the agent.
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

/// Finds tasks of a loop that have waited for the maximum of their priority.   Thread: the agent.
class StarvationGuard {
 public:
  explicit StarvationGuard(const MaxWait& most) noexcept
      : marks_{AgeMarks(most.background), AgeMarks(most.user_visible),
               AgeMarks(most.user_blocking)},
        looks_(most) {}

  [[nodiscard]] LateLooks& looks() noexcept { return looks_; }

  /// To be called at each pick: finds the task whose maximum wait was over first.   Cost: O(1)
  /// while there is none, else O(log marks).
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
  /// Tasks and continuations of a priority have the same maximum. That of the older one is over
  /// first.
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
