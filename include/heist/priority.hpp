// TaskPriority: the three priorities of the specification and their strict order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heist {

/// Priority of a task; strict order, `user_blocking` first.
///
/// Spec: [sched#sec-task-priorities].
enum class TaskPriority : std::uint8_t { background, user_visible, user_blocking };

/// The specification's string for a priority: "background", "user-visible", "user-blocking".
///
/// Thread: any (pure).   Cost: O(1), no allocation.
[[nodiscard]] constexpr std::string_view to_string(TaskPriority priority) noexcept {
  switch (priority) {
    case TaskPriority::background:
      return "background";
    case TaskPriority::user_visible:
      return "user-visible";
    case TaskPriority::user_blocking:
      return "user-blocking";
  }
  return "invalid";
}

/// The priority a specification string names, or nothing for any other text (case matters).
///
/// Thread: any (pure).   Errors: none; unknown text gives std::nullopt.
[[nodiscard]] constexpr std::optional<TaskPriority> parse_task_priority(
    std::string_view text) noexcept {
  for (const auto priority :
       {TaskPriority::background, TaskPriority::user_visible, TaskPriority::user_blocking}) {
    if (text == to_string(priority)) return priority;
  }
  return std::nullopt;
}

/// Number of levels of effective priority.
inline constexpr int level_count = 6;

/// Priority of a continuation: a task's, or that of the running task (contract YLD-2).
///
/// Spec: [sched#enumdef-continuationpriority].
enum class ContinuationPriority : std::uint8_t {
  background,
  user_visible,
  user_blocking,
  inherit,  ///< the originating task's, be it fixed or a signal's
};

/// Says that a continuation takes something from the running task.
struct Inherit {};
inline constexpr Inherit inherit{};

/// Effective priority of a scheduler task queue; higher runs first.
///
/// Spec:   [sched#sec-scheduling-tasks-processing-model], the table.
/// Thread: any (pure).   Units: rank 0..5.   Cost: O(1).
[[nodiscard]] constexpr int effective_priority(TaskPriority priority,
                                               bool is_continuation) noexcept {
  return 2 * static_cast<int>(priority) + (is_continuation ? 1 : 0);
}

}  // namespace heist
