// The levels of effective priority. Each priority has two: one for its tasks, and one above it for
// their continuations.
#pragma once

#include <heist/priority.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Number of levels of effective priority.
inline constexpr int level_count = 6;

/// Effective priority of a scheduler task queue; higher runs first.
///
/// Spec:   [sched#sec-scheduling-tasks-processing-model], the table.
/// Thread: any (pure).   Units: rank 0..5.   Cost: O(1).
[[nodiscard]] constexpr int effective_priority(TaskPriority priority,
                                               bool is_continuation) noexcept {
  return 2 * static_cast<int>(priority) + (is_continuation ? 1 : 0);
}

}  // namespace HEIST_NAMESPACE::detail
