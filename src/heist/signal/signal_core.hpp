// SignalCore: the state behind AbortSignal and TaskSignal.
#pragma once

#include <cstdint>
#include <heist/abort_signal.hpp>
#include <heist/detail/listener.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/priority.hpp>
#include <stop_token>

#include "../concurrent/registry.hpp"
#include "signal_port.hpp"

namespace HEIST_NAMESPACE::detail {

/// Where a signal's priority comes from.
enum class PriorityKind : std::uint8_t {
  none,      ///< an AbortSignal
  own,       ///< a TaskController
  followed,  ///< another TaskSignal (any)
  fixed,     ///< a value (any)
};

struct Claimed;
struct ClaimedLinks;
struct SourceLink;
class StopBridge;

/// The shared state of a signal.
///
/// I1   reason_ goes from null to a box once, and "aborted" means that it is not null. The winner
///      of that step is the aborter.
/// I2   Tasks register before they are enqueued. The registry is closed after the reason is set. So
///      a task is refused, or is claimed by the aborter, or sees the reason at its start (Edge
///      phase).
/// I3   Signals that depend on others (dependent_signal.hpp) depend on roots only. A root's aborter
///      sets the reasons of its dependents while it walks its registry, before anybody is notified.
///      Whoever has set a signal's reason runs the signal's abort steps.
/// D2   A change of priority stores delivered_, then walks the registry for dependents. A new
///      dependent adds itself to the registry, then reads delivered_. All four are seq_cst, so the
///      walk meets the dependent, or the dependent reads the new value.
/// Edge signal: abort -> observe, start. Carries the reason.
/// Edge signal: attach -> notify. Carries a loop's port.
/// I4   change_word_ is a bare value only when every loop has been told of that value: a caller
///      tells the loops after it has changed the word, and before it ends as the deliverer, or
///      leaves. So a caller that finds the word bare, with the value that it wants, may return
///      (PRI-3).
/// I5   One caller delivers at a time, and the word says so. The deliverer ends when it has
///      delivered the value in the word, or it leaves a later value to the callers that are
///      counted: the first of them to leave delivers it. So the last value is always delivered
///      (PRI-6).
/// Edge signal: change, finish -> deliver. Carries what a caller did before its call to the
///      listeners that another caller calls, and what listeners did to the thread that calls them
///      next. (The word's other operations are read-modify-writes too, so they pass both on.)
/// Edge signal: change, leave, finish -> observe. Carries nothing but the order of the messages to
///      the loops, for a caller that returns at once (I4).
/// Edge signal: visible -> follow. Carries nothing: the value is an atomic.
class SignalCore {
 public:
  using End = void (*)(SignalCore&) noexcept;

  /// `end` says what to do when the last reference is dropped.
  SignalCore(PriorityKind kind, TaskPriority priority, End end = &destroy_root) noexcept;
  SignalCore(const SignalCore&) = delete;
  SignalCore& operator=(const SignalCore&) = delete;

  // The abort.
  [[nodiscard]] bool aborted() const noexcept {
    return reason_.load(sync::edge("signal:observe", sync::acquire)) != nullptr;
  }
  /// Called by a task that starts or finishes (the seq_cst half of Edge phase). Returns true when
  /// the signal or one of its roots is aborted. Then the task belongs to the aborter, and a
  /// dependent is kept until the aborter has come to it (I3 of DependentSignal).
  [[nodiscard]] bool try_leave_to_aborter() noexcept {
    return reason_.load(sync::edge("signal:start", sync::seq_cst)) != nullptr ||
           (end_ != &destroy_root && try_keep_for_aborter());
  }
  [[nodiscard]] Reason reason() const noexcept;
  /// `outermost_on` is the loop whose plain task aborts, or null. With it every listener is an
  /// outermost callback, and a checkpoint follows it (FORMAT.md 3.3).
  void abort(const Reason& reason, TaskHome* outermost_on = nullptr) noexcept;
  /// Aborts a signal of which nobody has a handle yet, without an event.
  void abort_at_birth(const Reason& reason) noexcept;
  /// Returns false when the signal is aborted. The registration was not added then.
  [[nodiscard]] bool add(Registration& registration) noexcept {
    return abort_registry_.add(registration);
  }
  void note_dead() noexcept { abort_registry_.note_dead(); }
  void note_dead_listener(SignalEventKind event) noexcept;
  /// Returns a token that the abort stops. All tokens of a signal share one stop state.
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::stop_token stop_token();

  // The priority.
  [[nodiscard]] bool is_task_signal() const noexcept { return kind_ != PriorityKind::none; }
  /// Whether tasks that take their priority from this signal move when it changes.
  [[nodiscard]] bool has_dynamic_priority() const noexcept {
    return kind_ == PriorityKind::own || kind_ == PriorityKind::followed;
  }
  /// The priority of tasks that take theirs from this signal.   Precondition: it is not dynamic.
  [[nodiscard]] TaskPriority fixed_priority() const noexcept {
    return kind_ == PriorityKind::fixed ? delivered() : TaskPriority::user_visible;
  }
  /// The priority that a handle shows. For a controller's signal it is what picks use, for a
  /// dependent signal what its listeners have been told.
  [[nodiscard]] TaskPriority priority() const noexcept {
    return kind_ == PriorityKind::own ? own_scheduling_priority() : delivered();
  }
  /// The priority that picks use.   Precondition: this is a controller's signal.
  [[nodiscard]] TaskPriority own_scheduling_priority() const noexcept;
  /// The same for any TaskSignal, whatever its listeners have been told.
  [[nodiscard]] TaskPriority scheduling_priority() noexcept;
  void set_priority(TaskPriority priority);
  [[nodiscard]] bool add_priority_registration(Registration& registration) noexcept {
    return priority_registry_.add(registration);
  }
  void note_dead_follower() noexcept { priority_registry_.note_dead(); }
  /// The value whose event is being delivered, or was delivered last.
  [[nodiscard]] TaskPriority delivered() const noexcept;
  /// Gives a new dependent its first priority, unless a change has reached it already.
  void start_following(TaskPriority priority) noexcept;

  /// Returns the port for a scheduler's loop and ceiling, and makes it the first time.
  /// Errors: std::bad_alloc.
  [[nodiscard]] SignalPort& port_for(const SchedulerCore& scheduler);

  /// Adds a reference, for a caller that holds only the memory. Returns false when the last
  /// reference has gone.
  [[nodiscard]] bool try_retain() noexcept { return shares_.try_add(); }
  [[nodiscard]] bool has_ended() const noexcept { return shares_.is_zero(); }
  /// Which kind of signal it is.
  [[nodiscard]] bool ends_by(End end) const noexcept { return end_ == end; }

  friend void retain(SignalCore& core) noexcept;
  friend void release(SignalCore& core) noexcept;

 protected:
  ~SignalCore();
  /// Drops everything but the memory.   Precondition: nobody else uses the signal any more.
  void drop_contents() noexcept;

 private:
  friend struct Claimed;
  static void destroy_root(SignalCore& core) noexcept;

  static constexpr std::uint8_t not_delivered = 3;  ///< in a follower that no value has reached yet

  [[nodiscard]] bool try_keep_for_aborter() noexcept;
  [[nodiscard]] bool mark_aborted(const Reason& reason) noexcept;
  [[nodiscard]] ClaimedLinks run_abort_steps(const Reason& reason, TaskHome* outermost_on) noexcept;
  [[nodiscard]] SignalPort* find_port(const SchedulerCore& scheduler) noexcept;
  [[nodiscard]] SignalPort& make_port(const SchedulerCore& scheduler);
  void reject_claimed(ControlledTask* oldest, const Reason& reason) noexcept;
  static void dispatch(Listener* oldest, SignalEvent& event, bool is_last,
                       TaskHome* outermost_on) noexcept;
  void notify_loops() noexcept;
  /// Visits the port of each loop that knows the signal.
  template <class Visit>
  void each_port(Visit&& visit);
  [[nodiscard]] bool leave() noexcept;
  void deliver_changes() noexcept;
  [[nodiscard]] bool end_delivery() noexcept;
  void deliver(TaskPriority previous, TaskPriority current) noexcept;
  [[nodiscard]] SourceLink* notify_priority_listeners(TaskPriority previous,
                                                      TaskPriority current) noexcept;
  void follow(TaskPriority current) noexcept;

  const PriorityKind kind_;
  sync::atomic<std::uint8_t> delivered_;
  RefCount shares_{1};
  sync::atomic<ReasonBox*> reason_{nullptr};  ///< owned reference
  Registry abort_registry_;
  Registry priority_registry_;
  /// The latest value, whether a caller delivers, and how many other callers have not left yet.
  /// They are one word, so that the order of values is the order of events (PRI-6).
  sync::atomic<std::uint32_t> change_word_;
  sync::atomic<const void*> deliverer_{nullptr};  ///< identity of the delivering thread
  const End end_;
  sync::atomic<SignalPort*> ports_{nullptr};
  sync::atomic<StopBridge*> stop_{nullptr};  ///< owned share, made when first asked for
};

}  // namespace HEIST_NAMESPACE::detail
