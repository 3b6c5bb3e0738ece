#include "signal_priority.hpp"

#include <heist/detail/ref.hpp>
#include <heist/error.hpp>
#include <new>

#include "../concurrent/tracing.hpp"
#include "../os/thread_id.hpp"
#include "claimed.hpp"
#include "dependent_signal.hpp"
#include "signal_core.hpp"

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

void trace_change(const SignalCore& signal, TaskPriority from, TaskPriority to) noexcept {
  if (!Tracing::is_on()) [[likely]]
    return;
  Tracing::record({.what = &signal,
                   .kind = TraceKind::priority,
                   .level = static_cast<std::uint8_t>(to),
                   .before = static_cast<std::uint8_t>(from)});
}

}  // namespace

SignalPriority::SignalPriority(PriorityKind kind, TaskPriority first) noexcept
    : change_word_(as_word(first)),
      delivered_(kind == PriorityKind::followed ? not_delivered
                                                : static_cast<std::uint8_t>(first)) {}

TaskPriority SignalPriority::for_picks() const noexcept {
  // The order is seq_cst: this is the agent's half of D1 (PortExtras).
  return value_of(change_word_.load(sync::edge("signal:observe", sync::seq_cst)));
}

void SignalPriority::set(SignalCore& signal, TaskPriority priority) {
  if (deliverer_.load(sync::relaxed) == this_thread_identity()) {  // relaxed: one's own or not.
    throw NotAllowedError(
        "set_priority: a change of this signal is being delivered on this thread");
  }
  const auto kept = Ref<SignalCore>::share(&signal);
  std::uint32_t word = change_word_.load(sync::edge("signal:observe", sync::acquire));
  if (word == as_word(priority)) return;  // I4: the loops know it
  signal.ports().reserve_moves();
  do {
    if (word == as_word(priority)) return;  // another call has set it
  } while (!change_word_.compare_exchange_weak(word, entered(word, priority),
                                               sync::edge("signal:change", sync::seq_cst),
                                               sync::edge("signal:observe", sync::acquire)));
  trace_change(signal, value_of(word), priority);
  signal.ports().notify_loops();
  const bool is_counted = (word & delivering) != 0;
  if (!is_counted || leave()) deliver_changes(signal);
}

bool SignalPriority::show(SignalCore& signal, TaskPriority priority) noexcept {
  if (for_picks() == priority) return true;
  try {
    signal.ports().reserve_moves();
  } catch (const std::bad_alloc&) {
    return false;
  }
  trace_change(signal, for_picks(), priority);
  change_word_.store(as_word(priority), sync::edge("signal:change", sync::seq_cst));
  signal.ports().notify_loops();
  return true;
}

/// To be called when a caller leaves that was counted. Returns true when it has to deliver what
/// another caller has left.
bool SignalPriority::leave() noexcept {
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
void SignalPriority::deliver_changes(SignalCore& signal) noexcept {
  do {
    // relaxed: compared with one's own only.
    deliverer_.store(this_thread_identity(), sync::relaxed);
    const TaskPriority current =
        value_of(change_word_.load(sync::edge("signal:deliver", sync::acquire)));
    const TaskPriority previous = delivered();  // the last deliverer stored it before its end
    if (current != previous) deliver(signal, previous, current);
    deliverer_.store(nullptr, sync::relaxed);  // relaxed: as above.
  } while (!end_delivery());
}

/// Ends the delivery. Returns false when there is a later value, and nobody to leave it to.
bool SignalPriority::end_delivery() noexcept {
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
void SignalPriority::deliver(SignalCore& signal, TaskPriority previous,
                             TaskPriority current) noexcept {
  delivered_.store(static_cast<std::uint8_t>(current),
                   sync::edge("signal:visible", sync::seq_cst));  // D2
  SourceLink* dependents = notify_listeners({signal, previous, current});
  while (SourceLink* link = ClaimedLinks::take_first(dependents)) {
    SignalCore& follower = link->dependent;
    follower.changing_priority().follow(follower, current);
    release(follower);
  }
}

/// Returns the links to the followers, in the order of their creation.
SourceLink* SignalPriority::notify_listeners(SignalEvent event) noexcept {
  Claimed claimed;
  registry_.walk(claimed);
  while (Listener* listener = claimed.listeners) {
    claimed.listeners = listener->dispatch_next;
    if (listener->dispatch(event)) registry_.note_dead();
    release(*listener);
  }
  return claimed.links.dependents;
}

/// Called only by the root's deliverer. A dependent that was made while the change was delivered
/// has the value already, and gets no event.
void SignalPriority::follow(SignalCore& signal, TaskPriority current) noexcept {
  const std::uint8_t value = static_cast<std::uint8_t>(current);
  const std::uint8_t previous =
      delivered_.exchange(value, sync::edge("signal:visible", sync::seq_cst));
  if (previous == value || previous == not_delivered) return;
  static_cast<void>(notify_listeners({signal, static_cast<TaskPriority>(previous), current}));
}

TaskPriority SignalPriority::delivered() const noexcept {
  return static_cast<TaskPriority>(
      delivered_.load(sync::edge("signal:follow", sync::seq_cst)));  // D2
}

void SignalPriority::start_following(TaskPriority priority) noexcept {
  std::uint8_t none = not_delivered;
  // relaxed: it fails when a change has stored a newer value.
  delivered_.compare_exchange_strong(none, static_cast<std::uint8_t>(priority), sync::relaxed,
                                     sync::relaxed);
}

}  // namespace HEIST_NAMESPACE::detail
