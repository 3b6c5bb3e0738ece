// ClusterUpkeep: what the keeper of a cluster does with the delays, messages and aborts that have
// come to the cluster.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>

#include "../concurrent/inbox.hpp"
#include "../loop/agent_role.hpp"
#include "../loop/upkeep_time.hpp"
#include "../task/task_queues.hpp"
#include "../task/tick_reader.hpp"
#include "timer_keeper.hpp"

namespace HEIST_NAMESPACE::detail {

class ClusterCore;
class LoopCore;
class TaskHome;

/// TimerKeeper decides who has the keeper's role; this class does the keeper's work. It runs no
/// users' code. Dropped tasks, callbacks of aborted tasks and references to signals, whose end
/// would run such code, go to the agent that keeps.
///
/// Roles   keeper: an agent, or a thread that posts late to a cluster that closes; one at a time.
class ClusterUpkeep {
 public:
  ClusterUpkeep(ClusterCore& cluster, Inbox& inbox, Inbox& abort_messages) noexcept
      : cluster_(cluster), inbox_(inbox), abort_messages_(abort_messages) {}

  // What any thread may call.

  /// Whether an agent should become the keeper. `ticks` reads the cluster's clock for the caller.
  [[nodiscard]] bool wants_keeper(TickReader& ticks) const noexcept;
  /// Called when something came for the keeper that is due at `due`: wakes the watcher if that is
  /// earlier than the deadline that the watcher knows.
  void notify_watcher(TimerKeeper::Due due) noexcept;
  /// Does the same for a message, which is due at once.
  void notify_keeper() noexcept { notify_watcher(now_due); }
  /// Whether delayed tasks wait until their scheduler is resumed. It says what the last keeper
  /// found.
  [[nodiscard]] bool holds_delayed() const noexcept {
    return holds_delayed_.load(sync::relaxed);  // relaxed: IdleAgents' announcement publishes it.
  }

  /// What a keeper passes to its agent of the aborted tasks whose callbacks are to be destroyed.
  enum class Passes : std::uint8_t { none, portion };
  /// What came of keep() besides.
  struct Kept {
    SchedulerTask* limit = nullptr;  ///< an ended limit to be run next, if it is a limit's turn
    bool has_passed = false;         ///< some aborted tasks are the agent's now
  };
  /// Called by an agent: takes over what was armed and publishes what is due, unless another agent
  /// does so at the moment. An agent that clears away what it gets before it runs anything else
  /// takes a portion of the aborted tasks as well, and then no limit.
  [[nodiscard]] Kept keep(LoopCore& agent, TickReader& ticks,
                          Passes passes) noexcept HEIST_ON_AGENT;

  /// Called by an agent that clears aborted tasks away, and has time for more: passes a
  /// portion to it, and leaves the rest where other agents find it. Returns false when nothing was
  /// passed, as there is nothing, or as another agent keeps.
  [[nodiscard]] bool pass_some_to(LoopCore& agent, TickReader& ticks) noexcept HEIST_ON_AGENT;
  /// Does the same within a task that waits for the end of aborted tasks. It takes over everything
  /// before, and waits for another agent that keeps.
  [[nodiscard]] bool collect_aborted(LoopCore& agent, TickReader& ticks) noexcept HEIST_ON_AGENT;

  // What only the keeper calls.

  /// Puts everything that has arrived into the wheel, publishes everything that is due, and takes
  /// out everything that was aborted.
  void take_over_all() noexcept;
  /// Does the same for the last time, because nothing arrives any more.
  void close_inbox() noexcept;
  /// Passes all that runs users' code to the agent, which does it before it sleeps.
  void pass_all_to(LoopCore& agent) noexcept HEIST_ON_AGENT;
  /// Takes out all tasks whose delay is not over, for a close.
  void take_waiting(TaskFifo& into) noexcept;
  /// Makes the next upkeep sweep what suspended schedulers hold back.
  void sweep_held_soon() noexcept { sweeps_held_ = true; }

 private:
  /// The sizes of portions: `portion` for tasks that arrive or are withdrawn, `due_portion` for
  /// tasks that come due or are moved in the wheel, `turned_portion` for nodes that are only put
  /// into their order.
  static constexpr unsigned portion = 256;
  static constexpr unsigned due_portion = 1024;
  static constexpr unsigned turned_portion = 2048;
  static constexpr TimerKeeper::Due now_due = 0;  ///< there is something to do at once

  [[nodiscard]] bool needs_keeper(TickReader& ticks) const noexcept;
  [[nodiscard]] SchedulerTask* take_limit(LoopCore& agent) noexcept HEIST_ON_AGENT;
  void take_over() noexcept;
  void end_keeping(TickReader& ticks) noexcept;
  [[nodiscard]] bool keeps_more() const noexcept;
  [[nodiscard]] bool pass_portion_to(LoopCore& agent) noexcept;
  void pass_rest_to(LoopCore& agent) noexcept HEIST_ON_AGENT;
  void arrive_some() noexcept;
  void arrive(LoopNode& node) noexcept;
  void withdraw_some() noexcept;
  [[nodiscard]] Registration* first_to_withdraw() const noexcept;

  ClusterCore& cluster_;
  Inbox& inbox_;
  Inbox& abort_messages_;
  // Only the keeper touches these.
  UpkeepTime time_;
  TakenNodes arriving_;  ///< from the inbox
  SignalLinks* last_withdrawn_ =
      nullptr;                ///< in the chain of aborted tasks, where these come first
  bool sweeps_held_ = false;  ///< the next upkeep sweeps what suspended schedulers hold back

  sync::atomic<bool> holds_delayed_{false};  ///< only the keeper writes it
};

}  // namespace HEIST_NAMESPACE::detail
