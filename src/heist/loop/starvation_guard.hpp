// StarvationGuard: which task of a loop has waited for too long (contract WAIT).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/priority.hpp>

#include "age_marks.hpp"
#include "task_queues.hpp"

namespace heist::detail {

/// What is to be picked next because it has waited for its maximum.
struct LatePick {
  int level = -1;                                                  ///< -1: there is none
  std::chrono::nanoseconds end = std::chrono::nanoseconds::max();  ///< of its maximum wait
};

/// When an agent looks for late tasks among those of its cluster: every sixteenth of the shortest
/// maximum, and at each pick
/// while there are some.   Agent only.
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

}  // namespace heist::detail
