// Membership: what a loop asks of the cluster that it is in.
#pragma once

#include <chrono>
#include <heist/detail/loop_node.hpp>
#include <memory>
#include <optional>
#include <string>

#include "agent_role.hpp"

namespace HEIST_NAMESPACE::detail {

class SchedulerTask;
class TaskHome;

/// Which agents of a cluster waited when one of them looked; kept for its next look.
struct SeenWaits {
  SeenWaits() noexcept = default;
  SeenWaits(const SeenWaits&) = delete;
  SeenWaits& operator=(const SeenWaits&) = delete;
  virtual ~SeenWaits() = default;
};

/// An agent's side of a cluster, owned by its loop (cluster: Member). A loop without one is in no
/// cluster.
///
/// Thread: the loop's agent.
class Membership {
 public:
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  virtual ~Membership() = default;

  [[nodiscard]] TaskHome& cluster() const noexcept { return cluster_; }

  /// What is to be run next of all agents' time limits, tasks and continuations and this loop's
  /// own. Returns null when there is nothing, or when the pick has to go on (LoopCore::goes_on).
  [[nodiscard]] virtual LoopNode* pick() noexcept HEIST_ON_AGENT = 0;
  /// Looks after the cluster's delays if nobody does.   Returns a signal's time limit that has
  /// ended, to be run next; null: none, or it is a task's turn.
  [[nodiscard]] virtual SchedulerTask* keep_delays() noexcept HEIST_ON_AGENT = 0;
  /// Whether somebody is to look after the cluster's delays, and nobody does.
  [[nodiscard]] virtual bool wants_keeper() noexcept HEIST_ON_AGENT = 0;
  /// Whether the cluster may have something above this level, or something to look after.
  [[nodiscard]] virtual bool has_more_urgent(int level) noexcept HEIST_ON_AGENT = 0;
  /// Sleeps until there may be something to do, or `limit`.
  virtual void park(std::optional<std::chrono::steady_clock::time_point> limit) noexcept
      HEIST_ON_AGENT = 0;
  /// The agent is about to run something: others look for what is published meanwhile (CLU-3,
  /// DLY-5).
  virtual void end_search() noexcept HEIST_ON_AGENT = 0;

  // What the agent's thread calls within a task.

  /// Called before a wait: drops what nobody may run any more.
  virtual void drop_before_wait() noexcept = 0;
  /// Called when the agent has said what it waits for: whether nobody is left who could end that
  /// wait (CLU-5).
  [[nodiscard]] virtual bool is_stuck() noexcept = 0;
  /// It has waited for long: what is to be told of those that have waited since the call before,
  /// which `seen` is of; empty: nothing, or another one of them tells.   Errors: std::bad_alloc.
  [[nodiscard]] virtual std::string find_long_waits(std::unique_ptr<SeenWaits>& seen) = 0;
  /// Called after a wait: waits until nobody looks at what the agent waited for.
  virtual void await_lookers() noexcept = 0;

 protected:
  explicit Membership(TaskHome& cluster) noexcept : cluster_(cluster) {}

 private:
  TaskHome& cluster_;
};

}  // namespace HEIST_NAMESPACE::detail
