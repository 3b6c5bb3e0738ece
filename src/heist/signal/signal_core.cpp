#include "signal_core.hpp"

#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/error.hpp>
#include <memory>
#include <utility>

#include "../os/thread_id.hpp"
#include "../task/task_home.hpp"
#include "claimed.hpp"
#include "dependent_signal.hpp"
#include "stop_signal.hpp"
#include "take_alone.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

// change_word_ has the value, whether a caller delivers, and from `one_caller` on how many other
// callers have not left yet.
constexpr std::uint32_t value_mask = 3;
constexpr std::uint32_t delivering = 4;  ///< a caller delivers
constexpr std::uint32_t left_over = 8;   ///< the next counted caller that leaves has to deliver
constexpr std::uint32_t one_caller = 16;

TaskPriority value_of(std::uint32_t word) noexcept {
  return static_cast<TaskPriority>(word & value_mask);
}
std::uint32_t as_word(TaskPriority priority) noexcept {
  return static_cast<std::uint32_t>(priority);
}

/// The word once a caller has entered. The caller delivers if nobody does; otherwise it is counted.
std::uint32_t entered(std::uint32_t word, TaskPriority priority) noexcept {
  const std::uint32_t others = word & ~(value_mask | left_over);
  const bool is_counted = (word & delivering) != 0;
  return as_word(priority) | (is_counted ? others + one_caller : others | delivering);
}

}  // namespace

template <class Visit>
void SignalCore::each_port(Visit&& visit) {
  for (SignalPort* port = ports_.load(sync::edge("signal:notify", sync::seq_cst));
       // relaxed: it was set before the port was linked.
       port != nullptr; port = port->next.load(sync::relaxed)) {
    visit(*port);
  }
}

SignalCore::SignalCore(PriorityKind kind, TaskPriority priority, End end) noexcept
    : kind_(kind),
      delivered_(kind == PriorityKind::followed ? not_delivered
                                                : static_cast<std::uint8_t>(priority)),
      change_word_(static_cast<std::uint32_t>(priority)),
      end_(end) {}

SignalCore::~SignalCore() { drop_contents(); }

void SignalCore::drop_contents() noexcept {
  if (StopBridge* bridge = take_alone(stop_)) release(static_cast<Listener&>(*bridge));
  if (ReasonBox* box = take_alone(reason_)) release(*box);
  SignalPort* port = take_alone(ports_);
  while (port != nullptr) {
    SignalPort* next = port->next.load(sync::relaxed);  // relaxed: as in take_alone().
    destroy_node(*port);
    port = next;
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

bool SignalCore::try_keep_for_aborter() noexcept {
  return DependentSignal::try_keep_for_aborter(*this);
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
  ClaimedLinks links = run_abort_steps(kept, outermost_on);
  while (SourceLink* link = ClaimedLinks::take_first(links.dependents)) {
    static_cast<void>(link->dependent.run_abort_steps(kept, outermost_on));
    release(link->dependent);
  }
  while (SourceLink* link = ClaimedLinks::take_first(links.aborted_before))
    release(link->dependent);
}

void SignalCore::abort_at_birth(const Reason& reason) noexcept {
  if (mark_aborted(reason)) static_cast<void>(run_abort_steps(reason, nullptr));
}

/// Marks the dependents, rejects the tasks, and calls the listeners. Returns the links to the
/// dependents, in the order of their creation.
ClaimedLinks SignalCore::run_abort_steps(const Reason& reason, TaskHome* outermost_on) noexcept {
  Claimed claimed{.reason = &reason};
  abort_registry_.close(claimed);
  reject_claimed(claimed.tasks, reason);
  SignalEvent event{*this};
  dispatch(claimed.listeners, event, true, outermost_on);
  return claimed.links;
}

void SignalCore::reject_claimed(ControlledTask* oldest, const Reason& reason) noexcept {
  while (oldest != nullptr) {
    auto& task = *oldest;
    oldest = static_cast<ControlledTask*>(task.chain);
    task.chain = nullptr;
    const bool unstarted = task.phase() == TaskPhase::aborted;
    task.task_ops().reject(task, reason);
    if (!unstarted) {
      task.task_ops().release_share(task);
      continue;
    }
    task.signal_port->append_to_reap(task);
  }
  each_port([](SignalPort& port) noexcept {
    if (port.leftovers.head != nullptr) port.send_reap();
  });
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

// The priority.

TaskPriority SignalCore::own_scheduling_priority() const noexcept {
  // The order is seq_cst: this is the agent's half of D1 (SignalPort).
  return value_of(change_word_.load(sync::edge("signal:observe", sync::seq_cst)));
}

TaskPriority SignalCore::scheduling_priority() noexcept {
  if (kind_ == PriorityKind::followed)
    return DependentSignal::priority_root(*this).own_scheduling_priority();
  return priority();
}

void SignalCore::set_priority(TaskPriority priority) {
  if (deliverer_.load(sync::relaxed) == this_thread_identity()) {  // relaxed: one's own or not.
    throw NotAllowedError(
        "set_priority: a change of this signal is being delivered on this thread");
  }
  const auto self = Ref<SignalCore>::share(this);
  each_port([](SignalPort& port) { port.reserve_move(); });
  std::uint32_t word = change_word_.load(sync::edge("signal:observe", sync::acquire));
  do {
    if (word == as_word(priority)) return;  // I4: the loops know it
  } while (!change_word_.compare_exchange_weak(word, entered(word, priority),
                                               sync::edge("signal:change", sync::seq_cst),
                                               sync::edge("signal:observe", sync::acquire)));
  notify_loops();
  const bool is_counted = (word & delivering) != 0;
  if (!is_counted || leave()) deliver_changes();
}

/// To be called when a caller leaves that was counted. Returns true when it has to deliver what
/// another caller has left.
bool SignalCore::leave() noexcept {
  std::uint32_t word = change_word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  for (;;) {
    const bool is_left = (word & left_over) != 0;
    const std::uint32_t next = is_left ? (word & ~left_over) | delivering : word;
    if (change_word_.compare_exchange_weak(word, next - one_caller,
                                           sync::edge("signal:leave", sync::release),
                                           sync::relaxed)) {  // relaxed: a failure only retries.
      return is_left;
    }
  }
}

/// Delivers the value in the word. Goes on with values that came meanwhile only if no other caller
/// is there to do it.
void SignalCore::deliver_changes() noexcept {
  do {
    // relaxed: compared with one's own only.
    deliverer_.store(this_thread_identity(), sync::relaxed);
    const TaskPriority current =
        value_of(change_word_.load(sync::edge("signal:deliver", sync::acquire)));
    const TaskPriority previous = delivered();  // the last deliverer stored it before its end
    if (current != previous) deliver(previous, current);
    deliverer_.store(nullptr, sync::relaxed);  // relaxed: as above.
  } while (!end_delivery());
}

/// Ends the delivery. Returns false when there is a later value, and nobody to leave it to.
bool SignalCore::end_delivery() noexcept {
  std::uint32_t word = change_word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  for (;;) {
    const bool is_through = value_of(word) == delivered();
    if (!is_through && word < one_caller) return false;
    const std::uint32_t next = (word & ~delivering) | (is_through ? 0 : left_over);
    if (change_word_.compare_exchange_weak(word, next, sync::edge("signal:finish", sync::release),
                                           sync::relaxed)) {  // relaxed: a failure only retries.
      return true;
    }
  }
}

/// Calls the signal's listeners first, then those of each dependent in order of creation (PRI-6).
void SignalCore::deliver(TaskPriority previous, TaskPriority current) noexcept {
  delivered_.store(static_cast<std::uint8_t>(current),
                   sync::edge("signal:visible", sync::seq_cst));  // D2
  SourceLink* dependents = notify_priority_listeners(previous, current);
  while (SourceLink* link = ClaimedLinks::take_first(dependents)) {
    link->dependent.follow(current);
    release(link->dependent);
  }
}

SourceLink* SignalCore::notify_priority_listeners(TaskPriority previous,
                                                  TaskPriority current) noexcept {
  Claimed claimed;
  priority_registry_.walk(claimed);
  SignalEvent event{*this, previous, current};
  dispatch(claimed.listeners, event, false, nullptr);
  return claimed.links.dependents;
}

/// Called only by the root's deliverer. A dependent that was made while the change was delivered
/// has the value already, and gets no event.
void SignalCore::follow(TaskPriority current) noexcept {
  const std::uint8_t value = static_cast<std::uint8_t>(current);
  const std::uint8_t previous =
      delivered_.exchange(value, sync::edge("signal:visible", sync::seq_cst));
  if (previous == value || previous == not_delivered) return;
  static_cast<void>(notify_priority_listeners(static_cast<TaskPriority>(previous), current));
}

TaskPriority SignalCore::delivered() const noexcept {
  return static_cast<TaskPriority>(
      delivered_.load(sync::edge("signal:follow", sync::seq_cst)));  // D2
}

void SignalCore::start_following(TaskPriority priority) noexcept {
  std::uint8_t none = not_delivered;
  // relaxed: it fails when a change has stored a newer value.
  delivered_.compare_exchange_strong(none, static_cast<std::uint8_t>(priority), sync::relaxed,
                                     sync::relaxed);
}

void SignalCore::notify_loops() noexcept {
  each_port([](SignalPort& port) noexcept { port.send_priority_change(); });
}

// How a signal comes to its ports.

SignalPort* SignalCore::find_port(const SchedulerCore& scheduler) noexcept {
  SignalPort* port = ports_.load(sync::edge("signal:notify", sync::acquire));
  while (port != nullptr && !port->is_for(scheduler)) {
    port = port->next.load(sync::relaxed);  // relaxed: set before the port was linked.
  }
  return port;
}

SignalPort& SignalCore::port_for(const SchedulerCore& scheduler) {
  SignalPort* found = find_port(scheduler);
  SignalPort& port = found != nullptr ? *found : make_port(scheduler);
  if (kind_ == PriorityKind::followed && &port.priority_port() == &port) {
    SignalPort& followed = DependentSignal::priority_root(*this).port_for(scheduler);
    port.followed.store(&followed, sync::edge("signal:attach", sync::release));
  }
  return port;
}

SignalPort& SignalCore::make_port(const SchedulerCore& scheduler) {
  SignalPort* port = make_node<SignalPort>(*this, scheduler);
  SignalPort* first = ports_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    if (SignalPort* made = find_port(scheduler)) {
      destroy_node(*port);
      return *made;
    }
    port->next.store(first, sync::relaxed);  // relaxed: published by the CAS.
  } while (!ports_.compare_exchange_weak(first, port, sync::edge("signal:attach", sync::seq_cst),
                                         sync::relaxed));  // relaxed: a failure only retries.
  return *port;
}

}  // namespace HEIST_NAMESPACE::detail
