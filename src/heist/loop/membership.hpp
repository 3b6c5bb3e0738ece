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
struct UrgentLook;

/// Which agents of a cluster waited when one of them looked. It compares them with those that wait
/// at its next look.
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

  /// Takes what is to run next: a time limit, a task or a continuation, of this loop or of the
  /// cluster. Returns null when there is nothing, or when the pick goes on later
  /// (AgentState::goes_on).
  [[nodiscard]] virtual LoopNode* pick() noexcept HEIST_ON_AGENT = 0;
  /// The level of what pick() has returned last, if that was of the cluster.
  [[nodiscard]] virtual int picked_level() const noexcept = 0;
  /// Looks after the cluster's delays if nobody does. Returns a time limit that has ended and is to
  /// run next, or null when none has, or when it is a task's turn.
  [[nodiscard]] virtual SchedulerTask* keep_delays() noexcept HEIST_ON_AGENT = 0;
  /// Whether the cluster has delays that nobody looks after.
  [[nodiscard]] virtual bool wants_keeper() noexcept HEIST_ON_AGENT = 0;
  /// Called within a task that waits for the end of aborted tasks: passes to the agent a portion of
  /// what the cluster has to clear away. Returns false when there is nothing of that any more.
  [[nodiscard]] virtual bool collect_aborted() noexcept HEIST_ON_AGENT = 0;
  /// Whether the cluster may have tasks above this level, or delays that nobody looks after.
  [[nodiscard]] virtual bool has_more_urgent(int level) noexcept HEIST_ON_AGENT = 0;
  /// Says which words of the cluster change before has_more_urgent() becomes true.
  virtual void show_words(UrgentLook& to) const noexcept = 0;
  /// Sleeps until there may be something to do, or `limit`.
  virtual void park(std::optional<std::chrono::steady_clock::time_point> limit) noexcept
      HEIST_ON_AGENT = 0;
  /// Called within park(), by the agent's host: the agent sleeps no more, and is about to run
  /// something, which may take long.
  virtual void end_wait() noexcept HEIST_ON_AGENT = 0;
  /// Called before the agent runs something, which may take long. From now on other agents look for
  /// what is published (CLU-3, DLY-5).
  virtual void end_search() noexcept HEIST_ON_AGENT = 0;

  // What the agent's thread calls within a task that waits.

  /// Called before a wait: drops tasks that no agent may run any more.
  virtual void drop_before_wait() noexcept = 0;
  /// Called when the agent has said what it waits for. Returns whether nobody is left who could end
  /// that wait (CLU-5).
  [[nodiscard]] virtual bool is_stuck() noexcept = 0;
  /// Called when the agent has waited for long. Returns what is to be told of the agents that have
  /// waited ever since the call before, which left `seen`. It is empty when there is nothing to
  /// tell, or when another one of them tells it.   Errors: std::bad_alloc.
  [[nodiscard]] virtual std::string find_long_waits(std::unique_ptr<SeenWaits>& seen) = 0;
  /// Called after a wait: returns when no other thread looks at the promise any more.
  virtual void await_lookers() noexcept = 0;

 protected:
  explicit Membership(TaskHome& cluster) noexcept : cluster_(cluster) {}

 private:
  TaskHome& cluster_;
};

}  // namespace HEIST_NAMESPACE::detail
