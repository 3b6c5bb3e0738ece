#include "signal_core.hpp"

#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/error.hpp>
#include <memory>
#include <utility>

#include "../cluster/queues/signal_queues.hpp"
#include "dependent_signal.hpp"
#include "stop_signal.hpp"
#include "task_home.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Takes what a pointer holds, and makes it null. Mostly it is null already, and nobody else looks.
template <class T>
T* take_alone(sync::atomic<T*>& pointer) noexcept {
  // relaxed, both: no other user is left (RefCount).
  T* taken = pointer.load(sync::relaxed);
  if (taken != nullptr) pointer.store(nullptr, sync::relaxed);
  return taken;
}

}  // namespace

void SignalPort::drop_contents() noexcept {
  if (SignalQueues* pair = take_alone(pair_)) release(*pair);
  if (TaskHome* target = take_alone(home)) release(*target);
}

SignalCore::SignalCore(PriorityKind kind, TaskPriority priority, End end) noexcept
    : kind_(kind),
      delivered_(kind == PriorityKind::followed ? not_delivered
                                                : static_cast<std::uint8_t>(priority)),
      change_word_(static_cast<std::uint32_t>(priority)),
      end_(end),
      first_part_(*this) {}

SignalCore::~SignalCore() { drop_contents(); }

void SignalCore::drop_contents() noexcept {
  if (StopBridge* bridge = take_alone(stop_)) release(static_cast<Listener&>(*bridge));
  if (ReasonBox* box = take_alone(reason_)) release(*box);
  first_part_.drop_contents();
  SignalPort* part = take_alone(more_parts_);
  while (part != nullptr) {
    SignalPort* next = part->next.load(sync::relaxed);  // relaxed: as in take_alone().
    part->drop_contents();
    destroy_node(*part);
    part = next;
  }
}

void SignalCore::destroy_root(SignalCore& core) noexcept {
  core.~SignalCore();
  release_node(&core, sizeof(SignalCore));
}

void release(SignalCore& core) noexcept {
  if (core.shares_.drop()) core.end_(core);
}

void retain(SignalCore& core) noexcept { core.shares_.add(); }

Reason SignalCore::reason() const noexcept {
  return Access::make<Reason>(
      Ref<ReasonBox>::share(reason_.load(sync::edge("signal:observe", sync::acquire))));
}

/// Gives the signal its reason. Returns false when it has one already.
bool SignalCore::mark_aborted(const Reason& reason) noexcept {
  ReasonBox* none = nullptr;
  retain(*Access::box(reason));
  // The order is seq_cst, together with the registry's close and the tasks' starts (Edge phase).
  if (reason_.compare_exchange_strong(none, Access::box(reason).get(),
                                      sync::edge("signal:abort", sync::seq_cst),
                                      sync::edge("signal:observe", sync::acquire))) {
    return true;
  }
  release(*Access::box(reason));
  return false;
}

void SignalCore::abort(const Reason& reason, TaskHome* outermost_on) noexcept {
  if (!mark_aborted(reason)) return;
  // The signal is kept, as a listener may drop the last handle, and with it the caller's reason.
  const auto self = Ref<SignalCore>::share(this);
  const Reason kept = reason;
  SourceLink* dependents = run_abort_steps(kept, outermost_on);
  while (dependents != nullptr) {
    SourceLink& link = *std::exchange(dependents, dependents->claimed);
    if (link.marked) static_cast<void>(link.dependent.run_abort_steps(kept, outermost_on));
    release(link.dependent);
  }
}

void SignalCore::abort_at_birth(const Reason& reason) noexcept {
  if (mark_aborted(reason)) static_cast<void>(run_abort_steps(reason, nullptr));
}

/// Marks the dependents, rejects the tasks, calls the listeners. The dependents, in order of
/// creation; a reference to each is the caller's.
SourceLink* SignalCore::run_abort_steps(const Reason& reason, TaskHome* outermost_on) noexcept {
  Claimed claimed{.reason = &reason};
  abort_registry_.close(claimed);
  reject_claimed(claimed.tasks, reason);
  SignalEvent event{*this};
  dispatch(claimed.listeners, event, true, outermost_on);
  return claimed.dependents;
}

void SignalCore::reject_claimed(ControlledTask* oldest, const Reason& reason) noexcept {
  while (oldest != nullptr) {
    auto& task = *oldest;
    oldest = static_cast<ControlledTask*>(task.chain);
    task.chain = nullptr;
    const bool unstarted = task.phase() == TaskPhase::aborted;
    task.task_ops().reject(task, reason);
    if (!unstarted) {
      task.task_ops().unregister(task);
      continue;
    }
    task.signal_port->append_to_reap(task);
  }
  if (first_part_.leftovers.head != nullptr) first_part_.send_reap();
  for (SignalPort* part = more_parts_.load(sync::edge("signal:notify", sync::seq_cst));
       // relaxed: set before it was linked.
       part != nullptr; part = part->next.load(sync::relaxed)) {
    if (part->leftovers.head != nullptr) part->send_reap();
  }
}

void SignalCore::dispatch(Listener* oldest, SignalEvent& event, bool is_last,
                          TaskHome* outermost_on) noexcept {
  while (oldest != nullptr) {
    Listener& listener = *oldest;
    oldest = listener.dispatch_next;
    const bool is_over = listener.dispatch(event);
    if (is_last) {
      listener.retire();
    } else if (is_over) {
      event.signal.priority_registry_.note_dead();
    }
    release(listener);
    if (outermost_on != nullptr) outermost_on->end_callback();
  }
}

void SignalCore::note_dead_listener(SignalEventKind event) noexcept {
  (event == SignalEventKind::abort ? abort_registry_ : priority_registry_).note_dead();
}

}  // namespace HEIST_NAMESPACE::detail
