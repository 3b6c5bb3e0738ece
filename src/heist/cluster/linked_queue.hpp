// LinkedQueue: first in, first out; any thread pushes, agents look at the first and take it.
#pragma once

#include <heist/node_memory.hpp>
#include <heist/sync.hpp>

#include "epochs.hpp"

namespace heist {

/// A cell of a LinkedQueue.
struct LinkedCell {
  using End = void (*)(LinkedCell&) noexcept;
  LinkedCell(void* what, End how) noexcept : item(what), end_it(how) {}
  /// Nobody looks at it any more.
  void end() noexcept { end_it(*this); }

  void* item;
  End end_it;
  LinkedCell* older = nullptr;
  LinkedCell* retired = nullptr;             ///< Epochs' link
  sync::atomic<LinkedCell*> newer{nullptr};  ///< set by whoever needs it
};

/// The end of a cell that names nothing it would keep alive.
inline void free_cell(LinkedCell& cell) noexcept { destroy_node(cell); }

// After Ladan-Mozes and Shavit, "An optimistic approach to lock-free FIFO queues" (2004): a push is one CAS on the
// newest cell and links to the older one; agents that take fill in the links the other way. Here posters write to no
// cell but their own, and epochs take the place of counted pointers.
//
// Roles   poster: any thread.  agent: inside an epoch.
// States  head_: the cell taken last (at first a stub); head_ == tail_ is empty.
// I1      The chain of `older` from tail_ reaches head_. `newer` is null or the cell whose `older` this one is.
// I2      The order is that of the CASes on tail_: one publication point.
// Edge linked: push, take -> look. Carries the cells.
// Edge linked: link -> next. A cell reached by `newer`.
// Edge linked: push <-> look. With the words of SharedQueue, or of BinRing's search.
// Reclamation  epochs: a cell is retired by who moves head_ away from it.
// Progress  lock-free; linking repeats what others have begun, bounded by what is queued.
// Proof   stress/model/models/cluster_queues.cpp.
class LinkedQueue {
 public:
  using CellEpochs = Epochs<LinkedCell>;

  /// Errors: std::bad_alloc.
  LinkedQueue() {
    auto* stub = make_node<LinkedCell>(nullptr, &free_cell);
    head_.store(stub, sync::relaxed);  // relaxed: not shared yet.
    tail_.store(stub, sync::relaxed);  // relaxed: not shared yet.
  }
  LinkedQueue(const LinkedQueue&) = delete;
  LinkedQueue& operator=(const LinkedQueue&) = delete;
  /// Nobody uses it any more.
  ~LinkedQueue() {
    // relaxed, both: who held the last share has seen all others go.
    LinkedCell* head = head_.load(sync::relaxed);
    for (LinkedCell* cell = tail_.load(sync::relaxed); cell != head;) {
      LinkedCell* older = cell->older;
      cell->end();
      cell = older;
    }
    head->end();
  }

  /// Any thread.
  void push(LinkedCell& cell) noexcept {
    LinkedCell* old = tail_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      cell.older = old;
    } while (!tail_.compare_exchange_weak(old, &cell, sync::edge("linked:push", sync::seq_cst),
                                          sync::relaxed));  // relaxed: a failure only retries.
  }

  [[nodiscard]] bool empty() const noexcept {
    auto* head = head_.load(sync::edge("linked:look", sync::seq_cst));
    return tail_.load(sync::edge("linked:look", sync::seq_cst)) == head;
  }

  /// The oldest cell, and the one before it, which take() needs.
  struct Front {
    LinkedCell* before = nullptr;
    LinkedCell* cell = nullptr;
  };
  /// An agent inside.
  [[nodiscard]] Front front() noexcept {
    LinkedCell* head = head_.load(sync::edge("linked:look", sync::seq_cst));
    LinkedCell* tail = tail_.load(sync::edge("linked:look", sync::seq_cst));
    if (head == tail) return {};
    LinkedCell* first = head->newer.load(sync::edge("linked:next", sync::acquire));
    if (first == nullptr) first = link(tail, head);
    return {head, first};
  }
  /// An agent inside: the one that was pushed after `cell`, which it has reached in this scope; null: none yet.
  [[nodiscard]] LinkedCell* next(LinkedCell& cell) noexcept {
    LinkedCell* newer = cell.newer.load(sync::edge("linked:next", sync::acquire));
    if (newer != nullptr) return newer;
    LinkedCell* tail = tail_.load(sync::edge("linked:look", sync::seq_cst));
    return tail == &cell ? nullptr : link(tail, &cell);
  }
  /// An agent inside: takes the cell that front() gave; false when another agent has.
  [[nodiscard]] bool take(CellEpochs& epochs, unsigned agent, const Front& front) noexcept {
    LinkedCell* before = front.before;
    if (!head_.compare_exchange_strong(before, front.cell, sync::edge("linked:take", sync::seq_cst),
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

 private:
  /// Fills in `newer` from the newest down to `head`, or to one that has been behind it.   Returns the one after that.
  static LinkedCell* link(LinkedCell* tail, LinkedCell* head) noexcept {
    LinkedCell* cell = tail;
    for (; cell->older != head; cell = cell->older) {
      cell->older->newer.store(cell, sync::edge("linked:link", sync::release));
    }
    head->newer.store(cell, sync::edge("linked:link", sync::release));
    return cell;
  }

  sync::atomic<LinkedCell*> head_{nullptr};
  sync::atomic<LinkedCell*> tail_{nullptr};
};

}  // namespace heist
