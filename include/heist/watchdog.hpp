// Watchdog: tells which tasks run for too long, and what waits meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <heist/agent_cluster.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/task_label.hpp>
#include <heist/version.hpp>
#include <memory>
#include <string>

namespace HEIST_NAMESPACE {

/// A task, or something else that an agent calls, that has run for longer than a Watchdog allows.
struct LongTask {
  unsigned agent = 0;      ///< its index in the cluster
  std::string agent_name;  ///< the name of its thread
  TaskLabel label;         ///< empty if it has none
  /// For how long at least. It is exact for tasks with a label, and for those timed as they run
  /// (LevelMetrics); for others it is how long the watchdog has seen them run.
  std::chrono::nanoseconds running_for{};
  std::uint64_t waiting = 0;         ///< tasks that wait in the cluster
  std::uint64_t waiting_for_it = 0;  ///< those of them that are bound to this agent
  /// Whether other threads have posted to this agent since it began the task. Nobody has counted
  /// that yet.
  bool others_arrive = false;
};

/// The text that a watchdog without a report of its own writes to stderr.
///
/// Errors: std::bad_alloc.
[[nodiscard]] HEIST_EXPORT std::string to_string(const LongTask& task);

/// What a Watchdog reports, and to whom.
struct WatchdogOptions {
  /// What runs for longer is reported, once. It is to be from a millisecond to an hour.
  std::chrono::nanoseconds limit = std::chrono::milliseconds(100);
  /// Called on the watchdog's thread. What it throws goes to the error hook. By default the text of
  /// the task is written to stderr.
  std::function<void(const LongTask&)> report = {};
};

/// While it lives, a thread looks at the agents of a cluster four times in each `limit`. Agents do
/// nothing for it. A task in blocking(), or that waits for a promise, counts as running. Reserves,
/// handlers of an agent's host, reactions between two tasks, and the destruction of aborted tasks
/// are not looked at.
///
/// Lifetime: it must end before its cluster.
class HEIST_EXPORT Watchdog {
 public:
  /// Errors: std::invalid_argument for a limit below a millisecond or above an hour;
  /// std::bad_alloc; std::system_error when there is no thread.
  explicit Watchdog(const AgentCluster& cluster, WatchdogOptions options = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  /// Blocks: while a report is under way. It must not run within one.
  ~Watchdog();

 private:
  struct HEIST_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace HEIST_NAMESPACE
