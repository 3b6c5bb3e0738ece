#include "signal_core.hpp"

#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/error.hpp>
#include <memory>
#include <utility>

#include "../concurrent/tracing.hpp"
#include "../task/task_home.hpp"
#include "claimed.hpp"
#include "controller_signal.hpp"
#include "dependent_signal.hpp"
#include "lent_priority.hpp"
#include "stop_signal.hpp"
#include "take_alone.hpp"
#include "timeout_signal.hpp"

namespace HEIST_NAMESPACE::detail {

SignalCore::SignalCore(SignalForm form, PriorityKind kind, std::size_t priority_at) noexcept
    : form_(form), kind_(kind), priority_at_(static_cast<std::uint8_t>(priority_at)) {
  if (Tracing::is_on()) [[unlikely]]
    Tracing::record({.what = this, .kind = TraceKind::birth});
}

SignalCore::~SignalCore() { drop_contents(); }

void SignalCore::drop_contents() noexcept {
  if (StopBridge* bridge = take_alone(stop_)) release(static_cast<Listener&>(*bridge));
  if (ReasonBox* box = take_alone(reason_)) release(*box);
  ports_.destroy();
}

/// Called when the last reference has gone.
void SignalCore::end() noexcept {
  switch (form_) {
    case SignalForm::plain:
      this->~SignalCore();
      return release_node(this, sizeof(SignalCore));
    case SignalForm::controller:
      return destroy_node(static_cast<ControllerSignal&>(*this));
    case SignalForm::dependent:
      return static_cast<DependentSignal&>(*this).end_dependent();
    case SignalForm::timeout:
      return static_cast<TimeoutSignal&>(*this).end_timeout();
    case SignalForm::stop:
      return static_cast<StopSignal&>(*this).end_stop();
    case SignalForm::lent:
      return static_cast<LentPriority&>(*this).end_lent();
  }
}

void release(SignalCore& core) noexcept {
  // Signals of the other forms are known to threads that have no reference, and may add one
  // (try_retain).
  const bool is_controllers =
      core.form_ == SignalForm::plain || core.form_ == SignalForm::controller;
  SharesAndDeaths& shares = core.abort_registry_.shares();
  if (is_controllers ? shares.drop_or_be_last() : shares.drop()) core.end();
}

void leave(SignalCore& core) noexcept {
  if (core.abort_registry_.leave()) core.end();
}

void retain(SignalCore& core) noexcept { core.abort_registry_.shares().add(); }

Reason SignalCore::reason() const noexcept {
  return Access::make<Reason>(
      Ref<ReasonBox>::share(reason_.load(sync::edge("signal:observe", sync::acquire))));
}

bool SignalCore::try_keep_for_aborter() noexcept {
  return DependentSignal::try_keep_for_aborter(*this);
}

/// Gives the signal its reason. Returns false when it has one already.
bool SignalCore::mark_aborted(Reason reason) noexcept {
  if (!try_take_share_of(reason)) return false;
  static_cast<void>(Access::into_box(std::move(reason)).detach());
  return true;
}

/// Does the same. If it returns true, the share that this Reason had is the signal's.
bool SignalCore::try_take_share_of(const Reason& reason) noexcept {
  ReasonBox* none = nullptr;
  // The order is seq_cst, together with the registry's close and the tasks' starts (Edge phase).
  return reason_.compare_exchange_strong(none, Access::box(reason).get(),
                                         sync::edge("signal:abort", sync::seq_cst),
                                         sync::edge("signal:observe", sync::acquire));
}

void SignalCore::abort(Reason reason, TaskHome* outermost_on) noexcept {
  if (!try_take_share_of(reason)) return;
  // A listener may drop the last handle. The signal is kept, and with it the reason.
  const auto self = Ref<SignalCore>::share(this);
  ClaimedLinks links = run_abort_steps(reason, outermost_on);
  while (SourceLink* link = ClaimedLinks::take_first(links.dependents)) {
    static_cast<void>(link->dependent.run_abort_steps(reason, outermost_on));
    release(link->dependent);
  }
  while (SourceLink* link = ClaimedLinks::take_first(links.aborted_before))
    release(link->dependent);
  static_cast<void>(Access::into_box(std::move(reason)).detach());  // the share is the signal's
}

void SignalCore::abort_at_birth(const Reason& reason) noexcept {
  if (mark_aborted(reason)) static_cast<void>(run_abort_steps(reason, nullptr));
}

/// Marks the dependents, rejects the tasks, and calls the listeners. Returns the links to the
/// dependents, in the order of their creation. It is a function of its own, because a listener may
/// abort the next signal, and each level would take half as much stack again.
[[gnu::noinline]] ClaimedLinks SignalCore::run_abort_steps(const Reason& reason,
                                                           TaskHome* outermost_on) noexcept {
  const Claimed claimed = claim_registered(reason);
  dispatch_abort(claimed.listeners, outermost_on);
  return claimed.links;
}

/// Claims all that is registered, marks the dependents, and rejects the tasks. It is a function of
/// its own, so that what it needs is gone from the stack when the listeners are called.
[[gnu::noinline]] Claimed SignalCore::claim_registered(const Reason& reason) noexcept {
  Claimed claimed{.reason = &reason};
  if (Tracing::is_on()) Tracing::record({.what = this, .kind = TraceKind::signal});
  abort_registry_.close(claimed);
  reject_claimed(claimed.tasks, reason);
  return claimed;
}

void SignalCore::reject_claimed(SignalLinks* oldest, const Reason& reason) noexcept {
  while (oldest != nullptr) {
    SignalLinks& links = *oldest;
    ControlledTask& task = links.task;
    oldest = static_cast<SignalLinks*>(links.chain);
    const bool unstarted = task.phase() == TaskPhase::aborted;
    task.task_ops().reject(task, reason);
    if (!unstarted) {
      task.task_ops().release_share(task);
      continue;
    }
    links.port->append_to_reap(links);
  }
  ports_.send_reaps();
}

void SignalCore::dispatch_abort(Listener* oldest, TaskHome* outermost_on) noexcept {
  SignalEvent event{*this};
  while (oldest != nullptr) {
    Listener& listener = *oldest;
    oldest = listener.dispatch_next;
    static_cast<void>(listener.dispatch(event));
    listener.retire();
    release(listener);
    if (outermost_on != nullptr) outermost_on->end_callback();
  }
}

bool SignalCore::add_listener(Listener& listener, SignalEventKind event) noexcept {
  if (event == SignalEventKind::abort) return add(listener);
  changing_priority().add(listener);
  return true;
}

void SignalCore::note_dead_listener(SignalEventKind event) noexcept {
  event == SignalEventKind::abort ? abort_registry_.note_dead() : changing_priority().note_dead();
}

TaskPriority SignalCore::priority() const noexcept {
  if (!is_task_signal()) return TaskPriority::user_visible;
  const SignalPriority& priority = priority_part();
  return kind_ == PriorityKind::own ? priority.for_picks() : priority.delivered();
}

TaskPriority SignalCore::scheduling_priority() noexcept {
  if (kind_ == PriorityKind::followed)
    return DependentSignal::priority_root(*this).own_scheduling_priority();
  return priority();
}

const sync::atomic<std::uint32_t>& SignalCore::priority_word() noexcept {
  const bool follows = kind_ == PriorityKind::followed;
  return (follows ? DependentSignal::priority_root(*this) : *this).priority_part().word();
}

/// Does what port_for() does when there is no port yet, or when another signal's port has to be
/// there, too.
SignalPort& SignalCore::make_port_for(const SchedulerCore& scheduler) {
  SignalPort& port = ports_.get(*this, scheduler);
  if (kind_ == PriorityKind::followed && &port.priority_port() == &port) {
    SignalPort& followed = DependentSignal::priority_root(*this).port_for(scheduler);
    port.follow(followed);
  }
  return port;
}

}  // namespace HEIST_NAMESPACE::detail
