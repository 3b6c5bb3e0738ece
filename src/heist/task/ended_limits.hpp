// EndedLimits: time limits of signals that have ended, and when they are picked (contract DLY-6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/scheduler_task.hpp>

#include "../concurrent/own_count.hpp"
#include "task_queues.hpp"

namespace HEIST_NAMESPACE::detail {

/// The ended limits of one loop or cluster; the one that ended first is in front. They are picked
/// before any task. But after most_in_a_row of them a task may go first, because listeners of
/// limits may set new limits, and tasks would never run.
///
/// Agent only.
class EndedLimits {
 public:
  static constexpr unsigned most_in_a_row = 32;

  [[nodiscard]] bool empty() const noexcept { return line_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void push(SchedulerTask& limit) noexcept {
    limit.place = TaskPlace::ended_limit;
    line_.push_back(limit);
    ++size_;
  }
  void erase(SchedulerTask& limit) noexcept {
    limit.place = TaskPlace::elsewhere;
    line_.erase(limit);
    --size_;
  }
  /// Precondition: not empty.
  [[nodiscard]] SchedulerTask& pop() noexcept {
    SchedulerTask& first = *line_.front();
    erase(first);
    return first;
  }

  /// Called by the agent that picks, on the object of its own loop: whether it picks a limit now,
  /// be it the loop's or the cluster's. Returns false when it is a task's turn.
  /// `tasks_run`: how many tasks that agent has run; limits count as tasks.
  [[nodiscard]] bool begin_pick(std::uint64_t tasks_run) noexcept {
    if (tasks_run != run_after_last_) in_a_row_ = 0;
    if (in_a_row_ == most_in_a_row) return false;
    ++in_a_row_;
    run_after_last_ = tasks_run + 1;
    return true;
  }
  /// Whether begin_pick() would return true.
  [[nodiscard]] bool may_pick(std::uint64_t tasks_run) const noexcept {
    return tasks_run != run_after_last_ || in_a_row_ < most_in_a_row;
  }
  /// Ends a row of limits, because something else had its turn, or there was nothing to pick.
  void end_row() noexcept { in_a_row_ = 0; }

 private:
  TaskFifo line_;
  OwnCount size_;
  unsigned in_a_row_ = 0;
  std::uint64_t run_after_last_ = 0;
};

}  // namespace HEIST_NAMESPACE::detail
