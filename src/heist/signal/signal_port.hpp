// SignalPort: what a signal keeps for each loop or cluster that has tasks of it.
#pragma once

#include <array>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>

#include "../task/signal_leftovers.hpp"
#include "../task/task_queues.hpp"

namespace HEIST_NAMESPACE::detail {

class SignalQueues;
class TaskHome;

/// A message from a signal to a loop, embedded in the part it concerns.
struct SignalMessage : LoopNode {
  SignalMessage(const MessageOps& table, SignalPort& owner) noexcept
      : LoopNode(table), part(&owner) {}
  SignalPort* part;
};

/// What a signal keeps for one loop, and for the schedulers of one ceiling there: the dynamic
/// queues, and the messages that it sends.
///
/// Roles   sender: any thread that changes the priority, or the one that aborts.  agent: the
///         loop's.
/// States  notice_: idle -> pushing -> queued -> idle, with a version that counts the returns to
///         idle.
/// I1      The priority message is in the inbox at most once: it belongs to whoever moved notice_
///         from idle.
/// D1      set_priority stores the value, then reads notice_. The agent makes notice_ idle, then
///         reads the value. All four are seq_cst, so a sender that finds `queued` comes before the
///         agent's reading of the value. A sender that finds `pushing` cannot wait for that push,
///         so it raises the loop's recheck flag instead.
/// Edge notice: take -> mark. Carries the message: the agent has finished with it, and it may be
///         sent again.
/// Edge notice: queue -> mark. Orders the push of the message before later senders, which rely on
///         it.
/// Edge notice: mark -> take. Carries nothing but the order of D1 (the value is an atomic).
/// Edge pair: make -> find. Carries the pair. As in D1, whoever changes the priority then looks for
///         the pair, and whoever makes the pair, or finds it new, then reads the priority again.
/// Lifetime  as long as its signal; a message under way holds a reference to the signal.
struct SignalPort {
  explicit SignalPort(SignalCore& owner,
                      TaskPriority highest = TaskPriority::user_blocking) noexcept;

  /// The priority of the part's tasks: the signal's, as far as their schedulers allow (SEC-1).
  /// Precondition: the part is that of a controller's signal.
  [[nodiscard]] TaskPriority priority() const noexcept;

  /// The part whose dynamic queues hold the tasks that take their priority from this signal. It is
  /// this part, or a part of the signal that this signal follows.
  [[nodiscard]] SignalPort& priority_part() noexcept {
    SignalPort* part = followed.load(sync::edge("signal:notify", sync::acquire));
    return part != nullptr ? *part : *this;
  }
  /// Called before the priority changes: reserves what send_priority_change() will need.   Errors:
  /// std::bad_alloc.
  void reserve_move();
  /// Called by any thread when the priority has changed: tells the loop or cluster where tasks are,
  /// if there are any.
  void send_priority_change() noexcept;
  /// Called by any thread: tells a loop, whose agent has the queues (D1).
  void notify_agent(TaskHome& loop) noexcept;
  /// Called by the aborter: adds a claimed task to the chain that will be cleared away.
  void append_to_reap(ControlledTask& task) noexcept { leftovers.append(task); }
  /// Called by the aborter, once: sends the chain to the agent.
  void send_reap() noexcept;

  /// Called for a cluster: returns the queues of the tasks that take their priority from this
  /// signal, and makes them the first time.
  /// Errors: std::bad_alloc.
  [[nodiscard]] SignalQueues& shared_queues();
  /// Returns these queues, or null when nobody has asked for them yet.
  [[nodiscard]] SignalQueues* find_shared_queues() const noexcept {
    return pair_.load(sync::edge("pair:find", sync::seq_cst));
  }
  /// Called at the end of the signal.
  void drop_contents() noexcept;

  [[nodiscard]] SignalCore& signal() const noexcept { return *leftovers.signal; }

  const TaskPriority ceiling;
  sync::atomic<TaskHome*> home{nullptr};  ///< owned reference, set once
  sync::atomic<SignalPort*> next{nullptr};
  sync::atomic<SignalPort*> followed{nullptr};  ///< this home's part of the signal it follows

  SignalLeftovers leftovers;           ///< the aborter's until send_reap(), then the agent's
  std::array<DynamicQueue, 2> queues;  ///< the agent's; index: is continuation

 private:
  [[nodiscard]] SignalQueues* make_pair();
  static void take_priority_change(LoopNode& node, TaskHome& home) noexcept;
  static void take_reap(LoopNode& node, TaskHome& home) noexcept;
  static void drop_priority_change(LoopNode& node) noexcept;
  static void drop_reap(LoopNode& node) noexcept;
  static const MessageOps priority_table;
  static const MessageOps reap_table;

  sync::atomic<SignalQueues*> pair_{nullptr};  ///< owned share, set once
  sync::atomic<std::uint32_t> notice_{0};
  SignalMessage priority_message_;
  SignalMessage reap_message_;
};

/// The part in whose queues a task with a dynamic priority stands.
[[nodiscard]] SignalPort& priority_part_of(const ControlledTask& task) noexcept;

}  // namespace HEIST_NAMESPACE::detail
