#include "signal_core.hpp"

#include <heist/error.hpp>
#include <heist/node_memory.hpp>
#include <memory>
#include <utility>

#include "../os/thread_id.hpp"
#include "continuation.hpp"
#include "loop_core.hpp"

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

/// Collects what a walk claims into a chain, oldest first (walks go newest first).
struct Claimed {
  ControlledTask* tasks = nullptr;
  Listener* listeners = nullptr;

  void operator()(Registration& registration) noexcept {
    if (!registration.ops->claim(registration)) return;
    if (registration.ops->is_listener) {
      auto& listener = static_cast<Listener&>(registration);
      listener.dispatch_next = std::exchange(listeners, &listener);
    } else {
      auto& task = static_cast<ControlledTask&>(registration);
      task.chain = std::exchange(tasks, &task);
    }
  }
};

}  // namespace

SignalCore::SignalCore(Kind kind, TaskPriority priority) noexcept
    : kind_(kind), change_word_(as_word(priority)), first_part_(*this) {}

SignalCore::~SignalCore() {
  // relaxed, here and below: no other user is left (RefCount).
  if (Reason::Box* box = reason_.load(sync::relaxed)) release(*box);
  if (LoopCore* loop = first_part_.loop.load(sync::relaxed)) release(*loop);  // relaxed: as above.
  SignalLoop* part = more_parts_.load(sync::relaxed);                         // relaxed: as above.
  while (part != nullptr) {
    SignalLoop* next = part->next.load(sync::relaxed);  // relaxed: as above.
    release(*part->loop.load(sync::relaxed));           // relaxed: as above.
    destroy_node(*part);
    part = next;
  }
}

void release(SignalCore& core) noexcept {
  if (!core.shares_.drop()) return;
  core.~SignalCore();
  release_node(&core, sizeof(SignalCore));
}

void retain(SignalCore& core) noexcept { core.shares_.add(); }

Reason SignalCore::reason() const noexcept {
  return Reason(Ref<Reason::Box>::share(reason_.load(sync::edge("signal:observe", sync::acquire))));
}

void SignalCore::abort(const Reason& reason) noexcept {
  Reason::Box* none = nullptr;
  retain(*reason.box());
  // seq_cst: with the registry's close and the tasks' starts (Edge phase).
  if (!reason_.compare_exchange_strong(none, reason.box().get(),
                                       sync::edge("signal:abort", sync::seq_cst),
                                       sync::edge("signal:observe", sync::acquire))) {
    return release(*reason.box());
  }
  const auto self = Ref<SignalCore>::share(this);  // a listener may drop the last handle
  Claimed claimed;
  abort_registry_.close(claimed);
  reject_claimed(claimed.tasks, reason);
  SignalEvent event{*this};
  dispatch(claimed.listeners, event, true);
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
    task.signal_loop->append_to_reap(task);
  }
  if (first_part_.reap_head != nullptr) first_part_.send_reap();
  for (SignalLoop* part = more_parts_.load(sync::edge("signal:notify", sync::seq_cst));
       // relaxed: set before it was linked.
       part != nullptr; part = part->next.load(sync::relaxed)) {
    if (part->reap_head != nullptr) part->send_reap();
  }
}

void SignalCore::dispatch(Listener* oldest, SignalEvent& event, bool is_last) noexcept {
  while (oldest != nullptr) {
    Listener& listener = *oldest;
    oldest = listener.dispatch_next;
    listener.dispatch(event);
    if (is_last) listener.retire();
    release(listener);
  }
}

void SignalCore::note_dead_listener(Subscription::Event event) noexcept {
  (event == Subscription::Event::abort ? abort_registry_ : priority_registry_).note_dead();
}

TaskPriority SignalCore::priority() const noexcept {
  // seq_cst: the agent's half of D1 (SignalLoop).
  return value_of(change_word_.load(sync::edge("signal:observe", sync::seq_cst)));
}

void SignalCore::set_priority(TaskPriority priority) {
  if (deliverer_.load(sync::relaxed) == this_thread_identity()) {  // relaxed: one's own or not.
    throw NotAllowedError(
        "set_priority: a change of this signal is being delivered on this thread");
  }
  const auto self = Ref<SignalCore>::share(this);
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
  SignalEvent event{*this, previous, current};
  Change* pending = nullptr;
  for (;;) {
    Claimed claimed;
    priority_registry_.walk(claimed);
    dispatch(claimed.listeners, event, false);
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
    event.previous = pending->previous;
    event.current = pending->current;
  }
}

void SignalCore::notify_loops() noexcept {
  first_part_.send_priority_change();
  for (SignalLoop* part = more_parts_.load(sync::edge("signal:notify", sync::seq_cst));
       // relaxed: set before it was linked.
       part != nullptr; part = part->next.load(sync::relaxed)) {
    part->send_priority_change();
  }
}

SignalLoop* SignalCore::find_part(const LoopCore& loop) noexcept {
  if (first_part_.loop.load(sync::edge("signal:notify", sync::acquire)) == &loop) {
    return &first_part_;
  }
  SignalLoop* part = more_parts_.load(sync::edge("signal:notify", sync::acquire));
  // relaxed: both were set before the part was linked.
  while (part != nullptr && part->loop.load(sync::relaxed) != &loop) {
    part = part->next.load(sync::relaxed);  // relaxed: as above.
  }
  return part;
}

SignalLoop& SignalCore::part_for(LoopCore& loop) {
  if (SignalLoop* part = find_part(loop)) return *part;
  LoopCore* unused = nullptr;
  retain(loop);
  if (first_part_.loop.compare_exchange_strong(unused, &loop,
                                               sync::edge("signal:attach", sync::seq_cst),
                                               sync::edge("signal:notify", sync::acquire))) {
    return first_part_;
  }
  auto loop_share = Ref<LoopCore>::adopt(&loop);
  if (unused == &loop) return first_part_;
  SignalLoop* part = make_node<SignalLoop>(*this);
  part->loop.store(&loop, sync::relaxed);               // relaxed: published by the CAS below.
  SignalLoop* first = more_parts_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    if (SignalLoop* made = find_part(loop)) {
      destroy_node(*part);
      return *made;
    }
    part->next.store(first, sync::relaxed);  // relaxed: published by the CAS.
  } while (!more_parts_.compare_exchange_weak(first, part,
                                              sync::edge("signal:attach", sync::seq_cst),
                                              sync::relaxed));  // relaxed: a failure only retries.
  static_cast<void>(loop_share.detach());
  return *part;
}

SignalLoop& priority_part_of(const ControlledTask& task) noexcept {
  if (!task.is_continuation) return task.signal_loop->priority_part();
  return *static_cast<const ContinuationTask&>(task).callback().priority_part;
}

DynamicQueue& dynamic_queue_of(ControlledTask& task) noexcept {
  return priority_part_of(task).queues[task.is_continuation ? 1 : 0];
}

}  // namespace heist
