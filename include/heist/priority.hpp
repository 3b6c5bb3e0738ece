// TaskPriority: the three priorities of the specification and their strict order; and MaxWait, how
// long tasks of each may wait.
#pragma once

#include <cstdint>
#include <heist/detail/durations.hpp>
#include <heist/version.hpp>
#include <optional>
#include <string_view>

namespace HEIST_NAMESPACE {

/// Priority of a task; strict order, `user_blocking` first.
///
/// It has 32 bits because it is an argument of the library (detail::TaskOutcome says why).
///
/// Spec: [sched#sec-task-priorities].
enum class TaskPriority : std::uint32_t { background, user_visible, user_blocking };

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

/// Priority of a continuation: a task's, or that of the running task (contract YLD-2).
///
/// Spec: [sched#enumdef-continuationpriority].
enum class ContinuationPriority : std::uint8_t {
  background,
  user_visible,
  user_blocking,
  inherit,  ///< the originating task's, be it fixed or a signal's
};

/// The type of `inherit`, which says that a continuation takes something from the running task.
struct Inherit {};

/// Given as the signal of YieldOptions: signal and priority are those of the running task.
inline constexpr Inherit inherit{};

/// The longest that tasks and continuations of each priority may wait once they are runnable. Zero
/// means for ever, as the specification has it. What has waited for that long is late, and is
/// picked before everything that is not, whatever its level; of several late ones the one that
/// became late first. If more work comes than can be done, a priority without a maximum is served
/// only while nothing is late: then give one to every priority.
///
/// Spec:   contract WAIT-1...6.
/// Units:  zero, or from a millisecond to an hour; for other values the functions that take it
///         throw std::invalid_argument.
/// Cost:   none while all are zero; else each pick reads the clock.
struct MaxWait {
  std::chrono::nanoseconds user_blocking{};  ///< for TaskPriority::user_blocking
  std::chrono::nanoseconds user_visible{};   ///< for TaskPriority::user_visible
  std::chrono::nanoseconds background{};     ///< for TaskPriority::background

  /// The timeouts of the cooperative scheduler: of its user-blocking, normal and low priorities.
  [[nodiscard]] static constexpr MaxWait cooperative_timeouts() noexcept {
    return {.user_blocking = std::chrono::milliseconds(250),
            .user_visible = std::chrono::seconds(5),
            .background = std::chrono::seconds(10)};
  }

  /// The maximum of this priority.
  [[nodiscard]] constexpr std::chrono::nanoseconds of(TaskPriority priority) const noexcept {
    switch (priority) {
      case TaskPriority::background:
        return background;
      case TaskPriority::user_visible:
        return user_visible;
      case TaskPriority::user_blocking:
        break;
    }
    return user_blocking;
  }
  friend constexpr bool operator==(const MaxWait&, const MaxWait&) noexcept = default;
};

}  // namespace HEIST_NAMESPACE
