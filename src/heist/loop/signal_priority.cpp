// The priority half of a signal: changes, their order, and who is told.
#include <heist/error.hpp>
#include <utility>

#include "../os/thread_id.hpp"
#include "dependent_signal.hpp"
#include "signal_core.hpp"
#include "task_home.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

// change_word_: the value, who delivers, and from `one_caller` on how many other callers have not
// left yet.
constexpr std::uint32_t value_mask = 3;
constexpr std::uint32_t delivering = 4;  ///< a caller delivers
constexpr std::uint32_t left_over = 8;   ///< none does: the first of those counted to leave is to
constexpr std::uint32_t one_caller = 16;

TaskPriority value_of(std::uint32_t word) noexcept {
  return static_cast<TaskPriority>(word & value_mask);
}
std::uint32_t as_word(TaskPriority priority) noexcept {
  return static_cast<std::uint32_t>(priority);
}

/// What a caller makes of the word: it delivers itself when nobody does, or is counted.
std::uint32_t entered(std::uint32_t word, TaskPriority priority) noexcept {
  const std::uint32_t others = word & ~(value_mask | left_over);
  const bool is_counted = (word & delivering) != 0;
  return as_word(priority) | (is_counted ? others + one_caller : others | delivering);
}

}  // namespace

template <class Visit>
void SignalCore::each_part(Visit&& visit) {
  visit(first_part_);
  for (SignalPort* part = more_parts_.load(sync::edge("signal:notify", sync::seq_cst));
       // relaxed: set before it was linked.
       part != nullptr; part = part->next.load(sync::relaxed)) {
    visit(*part);
  }
}

TaskPriority SignalCore::picked() const noexcept {
  // The order is seq_cst: this is the agent's half of D1 (SignalPort).
  return value_of(change_word_.load(sync::edge("signal:observe", sync::seq_cst)));
}

TaskPriority SignalCore::picked_through() noexcept {
  if (kind_ == PriorityKind::followed) return DependentSignal::priority_root(*this).picked();
  return priority();
}

void SignalCore::set_priority(TaskPriority priority) {
  if (deliverer_.load(sync::relaxed) == this_thread_identity()) {  // relaxed: one's own or not.
    throw NotAllowedError(
        "set_priority: a change of this signal is being delivered on this thread");
  }
  const auto self = Ref<SignalCore>::share(this);
  each_part([](SignalPort& part) { part.reserve_move(); });
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

/// Called by a caller that was counted, and leaves. Returns true when it has to deliver what
/// another one has left.
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

/// Goes on with values that came meanwhile only while no other caller is there to do it.
void SignalCore::deliver_changes() noexcept {
  do {
    // relaxed: compared with one's own only.
    deliverer_.store(this_thread_identity(), sync::relaxed);
    const TaskPriority current =
        value_of(change_word_.load(sync::edge("signal:deliver", sync::acquire)));
    const TaskPriority previous = delivered();  // the last deliverer's, behind its end
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

/// The listeners first, then each dependent with its own, in order of creation (PRI-6).
void SignalCore::deliver(TaskPriority previous, TaskPriority current) noexcept {
  delivered_.store(static_cast<std::uint8_t>(current),
                   sync::edge("signal:visible", sync::seq_cst));  // D2
  SourceLink* dependents = notify_priority_listeners(previous, current);
  while (dependents != nullptr) {
    SourceLink& link = *std::exchange(dependents, dependents->claimed);
    link.dependent.follow(current);
    release(link.dependent);
  }
}

SourceLink* SignalCore::notify_priority_listeners(TaskPriority previous,
                                                  TaskPriority current) noexcept {
  Claimed claimed;
  priority_registry_.walk(claimed);
  SignalEvent event{*this, previous, current};
  dispatch(claimed.listeners, event, false, nullptr);
  return claimed.dependents;
}

/// Only the root's deliverer calls this. A dependent that was made while the change was delivered
/// has the value already, and no event.
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
  // relaxed: one that fails has been told a newer value.
  delivered_.compare_exchange_strong(none, static_cast<std::uint8_t>(priority), sync::relaxed,
                                     sync::relaxed);
}

void SignalCore::notify_loops() noexcept {
  each_part([](SignalPort& part) noexcept { part.send_priority_change(); });
}

}  // namespace HEIST_NAMESPACE::detail
