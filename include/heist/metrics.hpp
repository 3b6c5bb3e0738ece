// Metrics: what a loop, an agent or a cluster has done, what waits there, and for how long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/durations.hpp>
#include <heist/detail/levels.hpp>
#include <heist/histogram.hpp>
#include <heist/priority.hpp>
#include <heist/task_label.hpp>
#include <heist/version.hpp>
#include <optional>
#include <vector>

namespace HEIST_NAMESPACE {

/// The tasks of one priority, or their continuations. When a signal re-prioritises a task of a
/// cluster, the task counts at its new level. On a loop, where the queue of a signal moves in one
/// step, it goes on counting where it was posted, until all tasks of the signal before it are gone.
/// What a suspended scheduler holds back counts nowhere until it is resumed.
///
/// Only sampled tasks are timed (EventLoopOptions::sample_every), and few continuations. Unless all
/// are sampled, one in four of these is timed as it runs. A task waits from when it is runnable
/// until it starts. It runs until its callback has ended, and the microtasks after that.
struct LevelMetrics {
  /// How many have become runnable: the sum of the next four. These are not of exactly one moment
  /// while agents run, so the sum may be smaller than it was a moment ago.
  std::uint64_t posted = 0;
  std::uint64_t run = 0;       ///< how many have started
  std::uint64_t aborted = 0;   ///< how many were aborted, or cleared, while they waited here
  std::uint64_t rejected = 0;  ///< how many a close has dropped while they waited here
  /// How many are runnable now. In a cluster it is a lower bound when half a million wait, and
  /// after aborts it may be too high by a bin's 31 tasks for each bin that had aborted ones.
  std::uint64_t waiting = 0;
  /// For how long the oldest of the sampled tasks waits. Tasks whose priority follows a signal are
  /// left out.
  std::optional<std::chrono::nanoseconds> oldest_waiting;
  Histogram wait_time;
  Histogram run_time;
};

/// One for each of the six levels of priority.
class LevelsMetrics {
 public:
  /// The level of a priority's tasks, or that of their continuations.
  [[nodiscard]] LevelMetrics& of(TaskPriority priority, bool is_continuation = false) noexcept {
    return at(static_cast<std::size_t>(detail::effective_priority(priority, is_continuation)));
  }
  /// The same.
  [[nodiscard]] const LevelMetrics& of(TaskPriority priority,
                                       bool is_continuation = false) const noexcept {
    return levels_[static_cast<std::size_t>(detail::effective_priority(priority, is_continuation))];
  }
  /// From zero, the tasks of background priority, to five, the continuations of user-blocking ones.
  ///
  /// Precondition: below size().
  [[nodiscard]] LevelMetrics& at(std::size_t level) noexcept { return levels_[level]; }
  [[nodiscard]] const LevelMetrics& at(std::size_t level) const noexcept { return levels_[level]; }
  [[nodiscard]] static constexpr std::size_t size() noexcept { return detail::level_count; }

 private:
  std::array<LevelMetrics, detail::level_count> levels_;
};

/// The task that an agent runs, or what else keeps it.
struct RunningMetrics {
  TaskLabel label;  ///< empty for tasks without one, and for continuations
  /// How long it runs. It is known of tasks with a label, and of those timed as they run.
  std::optional<std::chrono::nanoseconds> running_for;
};

/// What a loop, or an agent, has done so far; approximate while it runs. An agent of a cluster
/// counts the cluster's tasks that it has picked, and as waiting those that are bound to it.
struct LoopMetrics {
  LevelsMetrics levels;                   ///< of all that it has run, and of what waits for it
  std::optional<RunningMetrics> running;  ///< what runs now; nothing when nothing does
  /// Tasks, continuations but those that go on because a promise has settled, and time limits of
  /// signals. In a cluster the levels count all continuations, and so may have more.
  std::uint64_t tasks_run = 0;
  std::uint64_t rejected = 0;  ///< tasks that a close has dropped, delayed ones too
  /// Whether other threads have posted something that the agent has not taken. Behind a long task
  /// that may be much; it counts nowhere yet.
  bool has_arriving = false;
  std::uint64_t delayed = 0;  ///< tasks and time limits that wait for their time, or for a resume
  std::uint64_t stolen = 0;   ///< tasks and continuations that it took from other agents
  std::uint64_t wakeups_sent = 0;  ///< system calls made to wake it
  std::uint64_t sleeps = 0;
  /// For how long the agent slept in all, the present sleep included, or had no thread.
  std::chrono::nanoseconds asleep{};
  std::chrono::nanoseconds age{};  ///< of the loop
  /// By how much delays were late, beyond the tick to which they are rounded. Of several that are
  /// found to have ended, the first counts.
  Histogram timer_lateness;

  /// The share of its age that an agent did not sleep. It does not sleep while it looks for work.
  [[nodiscard]] double busy_share() const noexcept {
    const auto awake = static_cast<double>((age - asleep).count());
    return age.count() > 0 && awake > 0 ? awake / static_cast<double>(age.count()) : 0;
  }
};

/// What a cluster has done so far.
struct ClusterMetrics {
  LevelsMetrics levels;             ///< of all its agents, and of what none has picked yet
  std::uint64_t tasks_run = 0;      ///< by all its agents
  std::uint64_t rejected = 0;       ///< by closes, with those that were bound to agents
  std::uint64_t delayed = 0;        ///< not bound to an agent
  Histogram timer_lateness;         ///< of delays that are not bound to an agent
  std::vector<LoopMetrics> agents;  ///< the agents in their order, then the reserves
};

}  // namespace HEIST_NAMESPACE
