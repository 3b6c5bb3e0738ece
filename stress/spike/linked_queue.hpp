// LinkedQueue: first in, first out; any thread pushes, agents look at the first and take it.
#pragma once

#include <heist/node_memory.hpp>
#include <heist/sync.hpp>

#include "epochs.hpp"

namespace heist::spike {

/// A cell of a LinkedQueue.
struct LinkedCell {
  explicit LinkedCell(void* what) noexcept : item(what) {}
  void* item;
  LinkedCell* older = nullptr;
  LinkedCell* retired = nullptr;             ///< Epochs' link
  sync::atomic<LinkedCell*> newer{nullptr};  ///< set by whoever needs it
};

// After Ladan-Mozes and Shavit, "An optimistic approach to lock-free FIFO queues" (2004): a push is one CAS on the
// newest cell and links to the older one; agents that take fill in the links the other way. Here posters write to no
// cell but their own, and epochs take the place of counted pointers.
//
// Roles   poster: any thread.  agent: inside an epoch.
// States  head_: the cell taken last (at first a stub); head_ == tail_ is empty.
// I1      The chain of `older` from tail_ reaches head_. `newer` is null or the cell whose `older` this one is.
// I2      The order is that of the CASes on tail_: one publication point.
// Edge    spike_linked: push -> look. Carries the cells.
// Edge    spike_linked: link -> look. A cell reached by `newer`.
// Reclamation  epochs: a cell is retired by who moves head_ away from it.
// Progress  lock-free; linking repeats what others have begun, bounded by what is queued.
// Proof   stress/spike/models/shared_queues.cpp.
template <unsigned Agents>
class LinkedQueue {
 public:
  using CellEpochs = Epochs<LinkedCell, Agents>;

  LinkedQueue() {
    auto* stub = make_node<LinkedCell>(nullptr);
    head_.store(stub, sync::relaxed);  // relaxed: not shared yet.
    tail_.store(stub, sync::relaxed);  // relaxed: not shared yet.
  }
  LinkedQueue(const LinkedQueue&) = delete;
  LinkedQueue& operator=(const LinkedQueue&) = delete;
  /// Nobody uses it any more.
  ~LinkedQueue() {
    LinkedCell* head = head_.load(sync::acquire);
    for (LinkedCell* cell = tail_.load(sync::acquire); cell != head;) {
      LinkedCell* older = cell->older;
      destroy_node(*cell);
      cell = older;
    }
    destroy_node(*head);
  }

  /// Any thread.
  void push(LinkedCell& cell) noexcept {
    LinkedCell* old = tail_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      cell.older = old;
    } while (!tail_.compare_exchange_weak(old, &cell,
                                          sync::edge("spike_linked:push", sync::seq_cst),
                                          sync::relaxed));  // relaxed: a failure only retries.
  }

  [[nodiscard]] bool empty() const noexcept {
    auto* head = head_.load(sync::edge("spike_linked:look", sync::seq_cst));
    return tail_.load(sync::edge("spike_linked:look", sync::seq_cst)) == head;
  }

  /// The oldest cell, and the one before it, which take() needs.
  struct Front {
    LinkedCell* before = nullptr;
    LinkedCell* cell = nullptr;
  };
  /// An agent inside.
  [[nodiscard]] Front front() noexcept {
    LinkedCell* head = head_.load(sync::edge("spike_linked:look", sync::seq_cst));
    LinkedCell* tail = tail_.load(sync::edge("spike_linked:look", sync::seq_cst));
    if (head == tail) return {};
    LinkedCell* first = head->newer.load(sync::edge("spike_linked:look", sync::acquire));
    if (first == nullptr) first = link(tail, head);
    return {head, first};
  }
  /// An agent inside: takes the cell that front() gave; false when another agent has.
  [[nodiscard]] bool take(CellEpochs& epochs, unsigned agent, const Front& front) noexcept {
    LinkedCell* before = front.before;
    if (!head_.compare_exchange_strong(before, front.cell,
                                       sync::edge("spike_linked:take", sync::seq_cst),
                                       sync::relaxed)) {  // relaxed: a failure only retries.
      return false;
    }
    epochs.retire(agent, *front.before);
    return true;
  }
  /// An agent inside: takes the oldest item, or null.
  [[nodiscard]] void* pop(CellEpochs& epochs, unsigned agent) noexcept {
    for (;;) {
      const Front first = front();
      if (first.cell == nullptr) return nullptr;
      if (take(epochs, agent, first)) return first.cell->item;
    }
  }

  /// A checker's view.
  template <class Visit>
  void each_word(Visit&& visit) {
    visit(head_);
    visit(tail_);
  }
  [[nodiscard]] bool holds(const void* item) const {
    const LinkedCell* head = head_.load(sync::relaxed);
    for (auto* cell = tail_.load(sync::relaxed); cell != head; cell = cell->older) {
      if (cell->item == item) return true;
    }
    return false;
  }
  template <class Visit>
  void each_item(Visit&& visit) const {
    const LinkedCell* head = head_.load(sync::relaxed);
    for (auto* cell = tail_.load(sync::relaxed); cell != head; cell = cell->older)
      visit(cell->item);
  }

 private:
  /// Fills in `newer` from the newest down to `head`.   Returns the one after `head`.
  static LinkedCell* link(LinkedCell* tail, LinkedCell* head) noexcept {
    LinkedCell* cell = tail;
    for (; cell->older != head; cell = cell->older) {
      cell->older->newer.store(cell, sync::edge("spike_linked:link", sync::release));
    }
    head->newer.store(cell, sync::edge("spike_linked:link", sync::release));
    return cell;
  }

  alignas(64) sync::atomic<LinkedCell*> head_{nullptr};
  alignas(64) sync::atomic<LinkedCell*> tail_{nullptr};
};

}  // namespace heist::spike
