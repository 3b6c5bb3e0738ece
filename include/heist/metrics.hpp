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

/// The tasks of one priority, or their continuations. In a cluster one that a signal re-prioritises
/// counts where it is, or was last. On a loop, where the queue of a signal moves in one step, it
/// counts where it was posted until it is the first of its signal.
///
/// Times are those of sampled tasks only (EventLoopOptions::sample_every), and of few continuations
/// in a cluster. A task waits from when it is runnable until it starts, and runs until its callback
/// and the microtasks after that have ended.
struct LevelMetrics {
  std::uint64_t posted = 0;    ///< that have become runnable: the sum of the next four
  std::uint64_t run = 0;       ///< that have started
  std::uint64_t aborted = 0;   ///< that a signal has aborted while they waited here
  std::uint64_t rejected = 0;  ///< that a close has dropped while they waited here
  std::uint64_t waiting = 0;   ///< that are runnable now; in an overfull cluster at least so many
  /// How long the sampled task waits that came first, of those whose priority follows no signal.
  std::optional<std::chrono::nanoseconds> oldest_waiting;
  Histogram wait_time;
  Histogram run_time;
};

/// One for each of the six levels of priority.
class LevelsMetrics {
 public:
  [[nodiscard]] LevelMetrics& of(TaskPriority priority, bool is_continuation = false) noexcept {
    return at(static_cast<std::size_t>(detail::effective_priority(priority, is_continuation)));
  }
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
  /// How long it runs. It is known of tasks with a label, and of sampled ones.
  std::optional<std::chrono::nanoseconds> running_for;
};

/// What a loop, or an agent, has done so far; approximate while it runs. An agent of a cluster
/// counts the cluster's tasks that it has picked, and as waiting those that are bound to it.
struct LoopMetrics {
  LevelsMetrics levels;
  std::optional<RunningMetrics> running;  ///< what runs now; nothing when nothing does
  std::uint64_t tasks_run = 0;            ///< of all levels, with time limits of signals
  std::uint64_t rejected = 0;             ///< tasks that a close has dropped, delayed ones too
  std::uint64_t arriving = 0;  ///< tasks that other threads have posted and the agent has not taken
  std::uint64_t delayed = 0;   ///< tasks that wait for their time, or for a resume
  std::uint64_t stolen = 0;    ///< tasks and continuations that it took from other agents
  std::uint64_t wakeups_sent = 0;  ///< system calls made to wake it
  std::uint64_t sleeps = 0;
  /// For how long the agent slept in all, the present sleep included, or had no thread.
  std::chrono::nanoseconds asleep{};
  std::chrono::nanoseconds age{};  ///< of the loop
  /// By how much delays were late, beyond the tick to which they are rounded: of those that were
  /// found to have ended together, the first.
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
