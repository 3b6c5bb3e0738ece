// SignalCore: the state behind AbortSignal and TaskSignal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/abort_signal.hpp>
#include <heist/detail/listener.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/priority.hpp>
#include <new>
#include <stop_token>
#include <utility>

#include "../concurrent/registry.hpp"
#include "signal_port.hpp"
#include "signal_priority.hpp"

namespace HEIST_NAMESPACE::detail {

/// What kind of node a signal is; its end depends on it. All but `dependent` are roots (I3).
enum class SignalForm : std::uint8_t {
  plain,       ///< an AbortController's
  controller,  ///< ControllerSignal
  dependent,   ///< DependentSignal
  timeout,     ///< TimeoutSignal
  stop,        ///< StopSignal
  lent,        ///< LentPriority
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
/// Edge signal: abort -> observe, start. Carries the reason.
/// Edge signal: attach -> notify. Carries a loop's port.
///
/// What changes a priority, and who hears of it, is in SignalPriority, which only TaskSignals have.
class SignalCore {
 public:
  /// `priority_at` is how far behind this object the SignalPriority stands, in the same node.
  explicit SignalCore(SignalForm form = SignalForm::plain, PriorityKind kind = PriorityKind::none,
                      std::size_t priority_at = 0) noexcept;
  SignalCore(const SignalCore&) = delete;
  SignalCore& operator=(const SignalCore&) = delete;

  // The abort.
  [[nodiscard]] bool aborted() const noexcept {
    return reason_.load(sync::edge("signal:observe", sync::acquire)) != nullptr;
  }
  /// Called by a task that starts (the seq_cst half of Edge phase), or finishes: there coherence is
  /// enough, as the callback may have seen the abort. Returns true when the signal or one of its
  /// roots is aborted. Then a task with a promise belongs to the aborter, and a dependent is kept
  /// until the aborter has come to it (I3 of DependentSignal).
  [[nodiscard]] bool try_leave_to_aborter() noexcept {
    return reason_.load(sync::edge("signal:start", sync::seq_cst)) != nullptr ||
           (form_ == SignalForm::dependent && try_keep_for_aborter());
  }
  [[nodiscard]] Reason reason() const noexcept;
  /// `outermost_on` is the loop whose plain task aborts, or null. With it every listener is an
  /// outermost callback, and a checkpoint follows it (FORMAT.md 3.3).
  void abort(Reason reason, TaskHome* outermost_on = nullptr) noexcept;
  /// Aborts a signal of which nobody has a handle yet, without an event.
  void abort_at_birth(const Reason& reason) noexcept;
  /// Returns false when the signal is aborted. The registration was not added then.
  [[nodiscard]] bool add(Registration& registration) noexcept {
    return abort_registry_.add(registration);
  }
  void note_dead() noexcept { abort_registry_.note_dead(); }
  /// Whether the event can come. An AbortSignal has no changes of priority.
  [[nodiscard]] bool has_event(SignalEventKind event) const noexcept {
    return event == SignalEventKind::abort || is_task_signal();
  }
  /// These two are as add() and note_dead(), for a listener of either event.
  /// Precondition: has_event().
  [[nodiscard]] bool add_listener(Listener& listener, SignalEventKind event) noexcept;
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
  [[nodiscard]] bool follows_priority() const noexcept { return kind_ == PriorityKind::followed; }
  /// The priority of tasks that take theirs from this signal; meaningless if it is dynamic.
  [[nodiscard]] TaskPriority fixed_priority() const noexcept {
    return kind_ == PriorityKind::fixed ? priority_part().delivered() : TaskPriority::user_visible;
  }
  /// The priority that a handle shows. For a controller's signal it is what picks use, for a
  /// dependent signal what its listeners have been told. An AbortSignal shows user-visible: a
  /// handle that is a TaskSignal may stand for one if that was assigned through its base class.
  [[nodiscard]] TaskPriority priority() const noexcept;
  /// The priority that picks use.   Precondition: this is a controller's signal.
  [[nodiscard]] TaskPriority own_scheduling_priority() const noexcept {
    return priority_part().for_picks();
  }
  /// The same for any TaskSignal, whatever its listeners have been told.
  [[nodiscard]] TaskPriority scheduling_priority() noexcept;
  // These two are for whoever compares them (UrgentLook). They last as long as the signal does.
  [[nodiscard]] const sync::atomic<ReasonBox*>& abort_word() const noexcept { return reason_; }
  /// Precondition: has_dynamic_priority().
  [[nodiscard]] const sync::atomic<std::uint32_t>& priority_word() noexcept;
  /// Precondition: is_task_signal().
  [[nodiscard]] SignalPriority& changing_priority() noexcept {
    return const_cast<SignalPriority&>(std::as_const(*this).priority_part());
  }
  [[nodiscard]] SignalPorts& ports() noexcept { return ports_; }
  /// Returns the port for a scheduler's loop and ceiling, and makes it the first time.
  /// Errors: std::bad_alloc.
  [[nodiscard]] SignalPort& port_for(const SchedulerCore& scheduler) {
    SignalPort* port = ports_.find(scheduler);
    return port != nullptr && !follows_priority() ? *port : make_port_for(scheduler);
  }

  /// Adds a reference, for a caller that holds only the memory. Returns false when the last
  /// reference has gone.
  [[nodiscard]] bool try_retain() noexcept { return abort_registry_.shares().try_add(); }
  [[nodiscard]] bool has_ended() const noexcept { return abort_registry_.shares().is_zero(); }
  [[nodiscard]] bool is_dependent() const noexcept { return form_ == SignalForm::dependent; }
  [[nodiscard]] bool is_lent() const noexcept { return form_ == SignalForm::lent; }

  friend void retain(SignalCore& core) noexcept;
  friend void release(SignalCore& core) noexcept;
  /// note_dead() and release() in one: for whoever has ended a registration.
  friend void leave(SignalCore& core) noexcept;

 protected:
  ~SignalCore();
  /// Drops everything but the memory.   Precondition: nobody else uses the signal any more.
  void drop_contents() noexcept;
  /// For a holder of a reference: adds that many.
  void add_shares(std::uint32_t n) noexcept { abort_registry_.shares().add(n); }
  /// Drops that many references.
  void drop_shares(std::uint32_t n) noexcept {
    if (abort_registry_.shares().drop(n)) end();
  }

 private:
  friend struct Claimed;
  /// Precondition: is_task_signal().
  [[nodiscard]] const SignalPriority& priority_part() const noexcept {
    return *std::launder(reinterpret_cast<const SignalPriority*>(
        reinterpret_cast<const std::byte*>(this) + priority_at_));
  }
  [[nodiscard]] SignalPort& make_port_for(const SchedulerCore& scheduler);
  void end() noexcept;
  [[nodiscard]] bool try_keep_for_aborter() noexcept;
  [[nodiscard]] bool mark_aborted(Reason reason) noexcept;
  [[nodiscard]] bool try_take_share_of(const Reason& reason) noexcept;
  [[nodiscard]] Claimed claim_registered(const Reason& reason) noexcept;
  [[nodiscard]] ClaimedLinks run_abort_steps(const Reason& reason, TaskHome* outermost_on) noexcept;
  void reject_claimed(SignalLinks* oldest, const Reason& reason) noexcept;
  void dispatch_abort(Listener* oldest, TaskHome* outermost_on) noexcept;

  sync::atomic<ReasonBox*> reason_{nullptr};       ///< owned reference
  [[no_unique_address]] Registry abort_registry_;  ///< counts the references, too
  // These three stand in the padding of the registry.
  const SignalForm form_;
  const PriorityKind kind_;
  /// Where the SignalPriority stands in the node. An AbortSignal has none.
  const std::uint8_t priority_at_;
  SignalPorts ports_;
  sync::atomic<StopBridge*> stop_{nullptr};  ///< owned share, made when first asked for
};

}  // namespace HEIST_NAMESPACE::detail
