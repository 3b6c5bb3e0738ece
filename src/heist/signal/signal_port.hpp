// SignalPort: what a signal keeps for each loop or cluster that has tasks of it.
#pragma once

#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>

#include "../task/scheduler_core.hpp"
#include "../task/signal_leftovers.hpp"
#include "../task/task_queues.hpp"

namespace HEIST_NAMESPACE::detail {

class SignalQueues;
class TaskHome;
struct SchedulerCore;
struct SignalPort;

/// What only some signals need on a loop: the queue of their continuations, and the message that
/// their priority has changed. The first continuation makes it, or the first change of priority.
///
/// Roles   sender: any thread that changes the priority.  agent: the loop's.
/// States  notice_: idle -> pushing -> queued -> idle, with a version that counts the returns to
///         idle.
/// I1      The message is in the inbox at most once: it belongs to whoever moved notice_ from idle.
/// D1      set_priority stores the value, then reads notice_. The agent makes notice_ idle, then
///         reads the value. All four are seq_cst, so a sender that finds `queued` comes before the
///         agent's reading of the value. A sender that finds `pushing` cannot wait for that push,
///         so it raises the loop's recheck flag instead.
/// Edge notice: take -> mark. Carries the message: the agent has finished with it, and it may be
///         sent again.
/// Edge notice: queue -> mark. Orders the push of the message before later senders, which rely on
///         it.
/// Edge notice: mark -> take. Carries nothing but the order of D1 (the value is an atomic).
/// Lifetime  as its port.
class PortExtras : private LoopNode {
 public:
  explicit PortExtras(SignalPort& of) noexcept : LoopNode(table), port_(of) {}

  /// Called by any thread: tells the agent (D1).
  void notify(TaskHome& loop) noexcept;

  DynamicQueue continuations;  ///< the agent's

 private:
  static void take(LoopNode& node, TaskHome& home) noexcept;
  static void drop(LoopNode& node) noexcept;
  static const MessageOps table;

  SignalPort& port_;
  sync::atomic<std::uint32_t> notice_{0};
};

/// The message from a signal to a loop or cluster that tasks were aborted. It is a base of the port
/// that it concerns.
struct ReapMessage : LoopNode {
  using LoopNode::LoopNode;
};

/// What a signal keeps for one loop, and for the schedulers of one ceiling there: the dynamic
/// queue, and the message that it sends when it is aborted.
///
/// Roles   sender: any thread that changes the priority, or the one that aborts.  agent: the
///         loop's.
/// States  more_: null, or what this port has apart. If its signal follows another one, that is
///         the other one's port here. Otherwise it is a pair of queues in a cluster, and PortExtras
///         on a loop.
/// Edge pair: make -> find. Carries the pair. As in D1 of PortExtras, whoever changes the priority
///         then looks for the pair, and whoever makes the pair, or finds it new, then reads the
///         priority again.
/// Edge extras: make -> find. Carries them. Whoever changes the priority has made them, unless the
///         port came meanwhile, or there was no memory. Then the agent is asked to look at all its
///         queues.
/// Lifetime  as long as its signal; a message under way holds a reference to the signal.
struct SignalPort : private ReapMessage {
  SignalPort(SignalCore& owner, const SchedulerCore& scheduler) noexcept;
  ~SignalPort();

  /// Whether this port is for the tasks of that scheduler.
  [[nodiscard]] bool is_for(const SchedulerCore& scheduler) const noexcept {
    return home.get() == &scheduler.home && ceiling_ == scheduler.ceiling;
  }

  /// The priority of the port's tasks: the signal's, as far as their schedulers allow (SEC-1).
  /// Precondition: the port is that of a controller's signal.
  [[nodiscard]] TaskPriority priority() const noexcept;

  /// The port whose dynamic queues hold the tasks that take their priority from this signal. It is
  /// this port, or a port of the signal that this signal follows.
  [[nodiscard]] SignalPort& priority_port() noexcept {
    if (!follows_) return *this;
    void* followed = more_.load(sync::edge("signal:notify", sync::acquire));
    return followed != nullptr ? *static_cast<SignalPort*>(followed) : *this;
  }
  /// Called by first posters of a signal that follows another one, with the same port each time.
  void follow(SignalPort& port) noexcept {
    more_.store(&port, sync::edge("signal:attach", sync::release));
  }
  /// Called before the priority changes: reserves what send_priority_change() will need.   Errors:
  /// std::bad_alloc.
  void reserve_move();
  /// Called by any thread when the priority has changed: tells the loop or cluster where tasks are,
  /// if there are any.
  void send_priority_change() noexcept;
  /// Called by any thread: tells a loop, whose agent has the queues.
  void notify_agent(TaskHome& loop) noexcept;
  /// Called by the aborter: adds a claimed task to the chain that will be cleared away.
  void append_to_reap(SignalLinks& of_task) noexcept { leftovers.append(of_task); }
  /// Called by the aborter, once: sends the chain to the agent.
  void send_reap() noexcept;

  /// Called for a loop before a continuation is posted: makes its queue, the first time.   Errors:
  /// std::bad_alloc.
  void reserve_continuations() {
    if (find_extras() == nullptr) make_extras();
  }
  /// The queue of the tasks that take their priority from this signal, or of their continuations,
  /// which must be reserved.   Agent only.
  [[nodiscard]] DynamicQueue& queue(bool is_continuation) noexcept {
    return is_continuation ? find_extras()->continuations : queue_;
  }
  /// Called for a cluster: returns the queues of the tasks that take their priority from this
  /// signal, and makes them the first time.
  /// Errors: std::bad_alloc.
  [[nodiscard]] SignalQueues& shared_queues();
  /// Returns these queues, or null when nobody has asked for them yet.
  [[nodiscard]] SignalQueues* find_shared_queues() const noexcept {
    return static_cast<SignalQueues*>(more_.load(sync::edge("pair:find", sync::seq_cst)));
  }
  [[nodiscard]] SignalCore& signal() const noexcept { return *leftovers.signal; }

  const Ref<TaskHome> home;
  sync::atomic<SignalPort*> next{nullptr};

 private:
  [[nodiscard]] static SignalPort& of_reap_message(LoopNode& node) noexcept;
  [[nodiscard]] PortExtras* find_extras() const noexcept {
    return static_cast<PortExtras*>(more_.load(sync::edge("extras:find", sync::acquire)));
  }
  void make_extras();
  void try_reserve_message() noexcept;
  [[nodiscard]] SignalQueues* make_pair();
  static void take_reap(LoopNode& node, TaskHome& home) noexcept;
  static void drop_reap(LoopNode& node) noexcept;
  static const MessageOps reap_table;

  sync::atomic<void*> more_{nullptr};  ///< the pair or the extras are owned, and set once
  DynamicQueue queue_;                 ///< the agent's

 public:
  /// The aborter's until send_reap(), then the owner's.
  [[no_unique_address]] SignalLeftovers leftovers;

 private:
  const TaskPriority ceiling_ : 8;
  const bool follows_;
};
static_assert(sizeof(SignalPort) <= 128, "a class of the node pool");

/// The ports of one signal: a list that only grows.
///
/// Thread: any. SignalCore describes the edge between those that attach a port and those that look.
class SignalPorts {
 public:
  /// Returns the port for a scheduler's loop and ceiling, or null when it is not made yet.
  [[nodiscard]] SignalPort* find(const SchedulerCore& scheduler) const noexcept {
    SignalPort* port = newest_.load(sync::edge("signal:notify", sync::acquire));
    while (port != nullptr && !port->is_for(scheduler)) {
      port = port->next.load(sync::relaxed);  // relaxed: set before the port was linked.
    }
    return port;
  }
  /// Returns the port of `signal` for a scheduler's loop and ceiling, and makes it the first time.
  /// Errors: std::bad_alloc.
  [[nodiscard]] SignalPort& get(SignalCore& signal, const SchedulerCore& scheduler) {
    SignalPort* found = find(scheduler);
    return found != nullptr ? *found : make(signal, scheduler);
  }
  /// Called before the priority changes: reserves what notify_loops() will need.
  /// Errors: std::bad_alloc.
  void reserve_moves();
  /// Tells every loop that knows the signal that its priority has changed.
  void notify_loops() noexcept;
  /// Called by the aborter, once: sends to each loop what was claimed of it.
  void send_reaps() noexcept;
  /// Called when no other user is left.
  void destroy() noexcept;

 private:
  [[nodiscard]] SignalPort& make(SignalCore& signal, const SchedulerCore& scheduler);
  template <class Visit>
  void each(Visit&& visit);

  sync::atomic<SignalPort*> newest_{nullptr};
};

/// The port in whose queues a task with a dynamic priority stands.
[[nodiscard]] SignalPort& priority_port_of(const ControlledTask& task) noexcept;

}  // namespace HEIST_NAMESPACE::detail
