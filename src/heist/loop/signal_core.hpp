// SignalCore: the state behind AbortSignal and TaskSignal, and its parts on the loops that use it.
#pragma once

#include <array>
#include <cstdint>
#include <heist/listener.hpp>
#include <heist/priority.hpp>
#include <heist/reason.hpp>
#include <heist/ref.hpp>
#include <heist/scheduler_task.hpp>
#include <heist/subscription.hpp>
#include <heist/sync.hpp>

#include "../concurrent/registry.hpp"
#include "task_queues.hpp"

namespace heist {

class LoopCore;
class SignalCore;

/// A message from a signal to a loop, embedded in the part it concerns.
struct SignalMessage : LoopNode {
  SignalMessage(const LoopNodeOps& table, SignalLoop& owner) noexcept
      : LoopNode(table), part(&owner) {}
  SignalLoop* part;
};

/// What a signal keeps for one loop: the dynamic queues there, and the messages it sends.
///
/// Roles   sender: any thread that changes the priority, or the one that aborts.  agent: the
///         loop's.
/// States  notice_: idle -> pushing -> queued -> idle, with a version that counts returns to idle.
/// I1      The priority message is in the inbox at most once: it belongs to who moved notice_ from
///         idle.
/// D1      set_priority stores the value, then reads notice_; the agent makes notice_ idle, then
///         reads the value. All four are seq_cst: a sender that found `queued` precedes the agent's
///         reading of the value. One that found `pushing` cannot wait for that push, so it raises
///         the loop's recheck flag instead.
/// Edge notice: take -> mark. Carries the message: the agent is done with it, it may be sent again.
/// Edge notice: queue -> mark. Orders the push of the message with later senders, who rely on it.
/// Edge notice: mark -> take. Carries nothing but the order of D1 (the value is an atomic).
/// Lifetime  as long as its signal; a message under way holds a reference to the signal.
struct SignalLoop {
  explicit SignalLoop(SignalCore& owner) noexcept;

  /// Whose dynamic queues hold the tasks that take their priority from this signal.
  [[nodiscard]] SignalLoop& priority_part() noexcept { return *this; }
  /// Any thread: the priority has changed.
  void send_priority_change() noexcept;
  /// The aborter: adds a claimed task to the chain to clear away.
  void append_to_reap(ControlledTask& task) noexcept;
  /// The aborter, once: hands the chain to the agent.
  void send_reap() noexcept;

  SignalCore* signal;
  sync::atomic<LoopCore*> loop{nullptr};  ///< owned reference, set once
  sync::atomic<SignalLoop*> next{nullptr};

  ControlledTask* reap_head = nullptr;  ///< the aborter's until send_reap(), then the agent's
  ControlledTask* reap_tail = nullptr;

  // Agent only.
  std::array<DynamicQueue, 2> queues;   ///< index: is continuation
  SignalLoop* next_released = nullptr;  ///< in AgentState::released
  int releases = 0;                     ///< references to drop

 private:
  static void take_priority_change(LoopNode& node, LoopCore& loop) noexcept;
  static void take_reap(LoopNode& node, LoopCore& loop) noexcept;
  static void lose_priority_change(LoopNode& node) noexcept;
  static void lose_reap(LoopNode& node) noexcept;
  static const LoopNodeOps priority_table;
  static const LoopNodeOps reap_table;

  sync::atomic<std::uint32_t> notice_{0};
  SignalMessage priority_message_;
  SignalMessage reap_message_;
};

/// Shared state of a signal.
///
/// I1   reason_ goes from null to a box once; aborted means not null. The winner of that step is
///      the aborter.
/// I2   Tasks register before they are enqueued; the registry is closed after the reason is set. So
///      a task is refused, or claimed by the aborter, or sees the reason at its start (Edge phase).
/// Edge signal: abort -> observe, start. Carries the reason.
/// Edge signal: attach -> notify. Carries a loop's part.
/// Edge signal: change -> observe, deliver. Carries the chain of changes left to the deliverer.
class SignalCore {
 public:
  enum class Kind : std::uint8_t { abort_only, task };

  SignalCore(Kind kind, TaskPriority priority) noexcept;
  SignalCore(const SignalCore&) = delete;
  SignalCore& operator=(const SignalCore&) = delete;

  // Abort half.
  [[nodiscard]] bool aborted() const noexcept {
    return reason_.load(sync::edge("signal:observe", sync::acquire)) != nullptr;
  }
  /// As aborted(), for the start of a task (seq_cst half of Edge phase).
  [[nodiscard]] bool aborted_at_start() const noexcept {
    return reason_.load(sync::edge("signal:start", sync::seq_cst)) != nullptr;
  }
  [[nodiscard]] Reason reason() const noexcept;
  void abort(const Reason& reason) noexcept;
  /// False: aborted, the registration was not added.
  [[nodiscard]] bool add(Registration& registration) noexcept {
    return abort_registry_.add(registration);
  }
  void note_dead_task() noexcept { abort_registry_.note_dead(); }
  void note_dead_listener(Subscription::Event event) noexcept;

  // Priority half.
  /// Whether tasks that take their priority from here move when it changes.
  [[nodiscard]] bool has_dynamic_priority() const noexcept { return kind_ == Kind::task; }
  /// Priority of tasks that take theirs from here, when it is not dynamic.
  [[nodiscard]] TaskPriority fixed_priority() const noexcept { return TaskPriority::user_visible; }
  [[nodiscard]] TaskPriority priority() const noexcept;
  void set_priority(TaskPriority priority);
  [[nodiscard]] bool add_priority_listener(Listener& listener) noexcept {
    return priority_registry_.add(listener);
  }

  /// The part for a loop; made when it is the first time.   Errors: std::bad_alloc.
  [[nodiscard]] SignalLoop& part_for(LoopCore& loop);

  friend void retain(SignalCore& core) noexcept;
  friend void release(SignalCore& core) noexcept;

 private:
  struct Change;
  ~SignalCore();

  [[nodiscard]] SignalLoop* find_part(const LoopCore& loop) noexcept;
  void reject_claimed(ControlledTask* oldest, const Reason& reason) noexcept;
  static void dispatch(Listener* oldest, SignalEvent& event, bool is_last) noexcept;
  void notify_loops() noexcept;
  void deliver_changes(TaskPriority previous, TaskPriority current) noexcept;

  const Kind kind_;
  RefCount shares_{1};
  sync::atomic<Reason::Box*> reason_{nullptr};  ///< owned reference
  Registry abort_registry_;
  Registry priority_registry_;
  /// Priority (2 bits), "a thread delivers" (1 bit), and the changes left to it (pointer): one
  /// word, so that the order of values is the order of events (PRI-6).
  sync::atomic<std::uintptr_t> change_word_;
  sync::atomic<const void*> deliverer_{nullptr};  ///< identity of the delivering thread
  SignalLoop first_part_;
  sync::atomic<SignalLoop*> more_parts_{nullptr};
};

/// Of a task with a dynamic priority: the part whose queues it stands in.
[[nodiscard]] SignalLoop& priority_part_of(const ControlledTask& task) noexcept;

}  // namespace heist
