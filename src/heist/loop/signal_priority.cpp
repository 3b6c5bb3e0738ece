// The priority half of a signal: changes, their order, and who is told.
#include <heist/error.hpp>
#include <heist/node_memory.hpp>
#include <utility>

#include "../os/thread_id.hpp"
#include "dependent_signal.hpp"
#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

/// A change of priority left to the thread that delivers one.
struct SignalCore::Change {
  Change* older;
  TaskPriority previous;
  TaskPriority current;
};

namespace {

constexpr std::uintptr_t value_mask = 3;
constexpr std::uintptr_t delivering = 4;
constexpr std::uintptr_t pointer_mask = ~std::uintptr_t{7};

TaskPriority value_of(std::uintptr_t word) noexcept {
  return static_cast<TaskPriority>(word & value_mask);
}
std::uintptr_t as_word(TaskPriority priority) noexcept {
  return static_cast<std::uintptr_t>(priority);
}

}  // namespace

template <class Visit>
void SignalCore::each_part(Visit&& visit) {
  visit(first_part_);
  for (SignalLoop* part = more_parts_.load(sync::edge("signal:notify", sync::seq_cst));
       // relaxed: set before it was linked.
       part != nullptr; part = part->next.load(sync::relaxed)) {
    visit(*part);
  }
}

TaskPriority SignalCore::picked() const noexcept {
  // seq_cst: the agent's half of D1 (SignalLoop).
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
  each_part([](SignalLoop& part) { part.reserve_move(); });
  Change* left = nullptr;
  std::uintptr_t word = change_word_.load(sync::edge("signal:observe", sync::acquire));
  for (;;) {
    const TaskPriority previous = value_of(word);
    if (previous == priority) {
      // Whoever set it may not have told the loops yet (PRI-3).
      if ((word & delivering) != 0) notify_loops();
      break;
    }
    std::uintptr_t next = as_word(priority) | delivering;
    if ((word & delivering) != 0) {
      if (left == nullptr) left = make_node<Change>();
      *left = {reinterpret_cast<Change*>(word & pointer_mask), previous, priority};
      next |= reinterpret_cast<std::uintptr_t>(left);
    }
    if (!change_word_.compare_exchange_weak(word, next, sync::edge("signal:change", sync::seq_cst),
                                            sync::edge("signal:observe", sync::acquire))) {
      continue;
    }
    if ((word & delivering) != 0) {
      left = nullptr;  // the deliverer's now
      notify_loops();
    } else {
      notify_loops();
      deliver_changes(previous, priority);
    }
    break;
  }
  if (left != nullptr) destroy_node(*left);
}

void SignalCore::deliver_changes(TaskPriority previous, TaskPriority current) noexcept {
  // relaxed: compared with one's own only.
  deliverer_.store(this_thread_identity(), sync::relaxed);
  Change* pending = nullptr;
  for (;;) {
    deliver(previous, current);
    if (pending != nullptr) destroy_node(*std::exchange(pending, pending->older));
    while (pending == nullptr) {
      std::uintptr_t word = change_word_.load(sync::edge("signal:deliver", sync::acquire));
      const bool done = (word & pointer_mask) == 0;
      if (done) deliverer_.store(nullptr, sync::relaxed);  // relaxed: as above.
      const std::uintptr_t next = done ? (word & value_mask) : (word & ~pointer_mask);
      if (!change_word_.compare_exchange_strong(word, next,
                                                sync::edge("signal:deliver", sync::acq_rel),
                                                sync::relaxed)) {  // relaxed: only retries.
        deliverer_.store(this_thread_identity(), sync::relaxed);   // relaxed: as above.
        continue;
      }
      if (done) return;
      // Taken newest first; delivered oldest first.
      auto* newest = reinterpret_cast<Change*>(word & pointer_mask);
      while (newest != nullptr) {
        Change* older = std::exchange(newest->older, pending);
        pending = std::exchange(newest, older);
      }
    }
    notify_loops();  // before the word says that nobody delivers, every value has been told
    previous = pending->previous;
    current = pending->current;
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

/// The root's deliverer only. One made while the change was delivered has the value already, and has no
/// event.
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
  each_part([](SignalLoop& part) noexcept { part.send_priority_change(); });
}

}  // namespace heist
