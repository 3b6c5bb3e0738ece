// LinkedQueue: a first-in, first-out queue. Any thread pushes. Agents look at the first cell and
// take it, and the sweeper also takes empty cells out of the middle.
#pragma once

#include <array>
#include <cstdint>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>

#include "../../memory/address_bits.hpp"
#include "epochs.hpp"

namespace HEIST_NAMESPACE::detail {

/// A cell of a LinkedQueue.
struct LinkedCell {
  using End = void (*)(LinkedCell&) noexcept;
  LinkedCell(void* what, End how) noexcept : item(what), end_it(how) {}
  /// Has to be called twice: by whoever takes the cell out of the queue, when nobody looks at it
  /// any more, and by the poster that has linked the next cell to it. The second call frees the
  /// cell.
  void end() noexcept {
    if (holders_.drop()) end_it(*this);
  }
  /// Adds one more holder, whose end() has to come before the cell is freed.
  void hold() noexcept { holders_.add(); }
  /// Returns true for the one caller that takes the cell out.
  [[nodiscard]] bool try_leave() noexcept {
    return !has_left_.exchange(true, sync::edge("linked:leave", sync::acq_rel));
  }

  sync::atomic<void*> item;  ///< null: taken
  End end_it;
  sync::atomic<LinkedCell*> older{nullptr};
  LinkedCell* retired = nullptr;             ///< Epochs' link
  sync::atomic<LinkedCell*> newer{nullptr};  ///< set by the poster of that cell, or by who needs it

 private:
  RefCount holders_{2};
  sync::atomic<bool> has_left_{false};
};

/// Frees a cell that keeps nothing else alive.
inline void free_cell(LinkedCell& cell) noexcept { destroy_node(cell); }

// After Ladan-Mozes and Shavit, "An optimistic approach to lock-free FIFO queues" (2004). A push is
// one CAS of the newest cell, and links the new cell to the older one. Then the poster links the
// older cell to the new one, too; agents that come before that do so instead. Epochs take the place
// of counted pointers. Posters are in no epoch: a cell waits for the poster of the next cell.
//
// Roles   poster: any thread.  agent: inside an epoch.  sweeper: one agent at a time; takes out
//         empty cells from the middle.
// States  head_: the cell that was taken last (at first a stub), and a version. The queue is empty
//         when head_ is tail_. A cell whose item was claimed where it stood is empty, and agents
//         pass it over.
// I1      The chain of `older` from tail_ reaches head_. `newer` is null, or the next cell that has
//         not been taken out.
// I2      The order of the cells is that of the CASes on tail_, which is the one publication point.
// I3      Only the sweeper changes a `newer` that is not null. It first makes the link pass over
//         the empty cells, then raises the version, so that whoever read the link before fails to
//         move head_. If head_ is among these cells by then, they leave as all other cells do.
//         Otherwise head_ never comes there: the chain of `older` passes over them, too, and the
//         sweeper takes them out.
// I4      Whoever moves head_ off a cell takes that cell out, unless the sweeper has done so
//         (LinkedCell::try_leave).
// Edge linked: push, take, bump -> look. Carries the cells.
// Edge linked: link -> next. Carries a cell that is reached by `newer`.
// Edge linked: unlink -> back. Carries a cell that is reached by `older`.
// Edge linked: claim -> empty. Whoever took the item out does not need the cell to stand there any
//         more.
// Edge linked: leave -> leave. Makes sure that only one of them takes the cell out.
// Edge linked: push <-> look. Together with the words of SignalQueue, or of InjectionQueue's
//         search.
// Reclamation  by epochs, and by the poster of the next cell: LinkedCell::end.
// Progress  lock-free. When a poster is stopped before it links, an agent goes once over all cells
//         that were pushed since.
// Bound   The version has 16 bits. An agent that stalls for 2^16 sweeps of a queue that nobody
//         takes from may undo a sweep.
// Proof   stress/model/models/cluster_queues.cpp.
class LinkedQueue {
 public:
  using CellEpochs = Epochs<LinkedCell>;

  /// Errors: std::bad_alloc.
  LinkedQueue() {
    auto* stub = make_node<LinkedCell>(nullptr, &free_cell);
    head_.store(word(stub, 0), sync::relaxed);  // relaxed: not shared yet.
    tail_.store(stub, sync::relaxed);           // relaxed: not shared yet.
  }
  LinkedQueue(const LinkedQueue&) = delete;
  LinkedQueue& operator=(const LinkedQueue&) = delete;
  /// Precondition: nobody uses the queue any more.
  ~LinkedQueue() {
    // relaxed, all: the holder of the last share has seen all others go.
    LinkedCell* head = cell_of(head_.load(sync::relaxed));
    LinkedCell* cell = tail_.load(sync::relaxed);
    cell->end();  // it has no successor
    while (cell != head) {
      LinkedCell* older = cell->older.load(sync::relaxed);  // relaxed: as above.
      cell->end();
      cell = older;
    }
    head->end();
  }

  /// Thread: any.
  void push(LinkedCell& cell) noexcept {
    LinkedCell* old = tail_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      cell.older.store(old, sync::relaxed);  // relaxed: the CAS publishes it.
    } while (!tail_.compare_exchange_weak(old, &cell, sync::edge("linked:push", sync::seq_cst),
                                          sync::relaxed));  // relaxed: a failure only retries.
    link_to(*old, cell);
    old->end();
  }

  [[nodiscard]] bool empty() const noexcept {
    const Word head = head_.load(sync::edge("linked:look", sync::seq_cst));
    return tail_.load(sync::edge("linked:look", sync::seq_cst)) == cell_of(head);
  }

  using Word = std::uint64_t;
  /// The oldest cell, and the word that take() needs.
  struct Front {
    Word before = 0;
    LinkedCell* cell = nullptr;
  };
  /// Called by an agent inside an epoch: the oldest cell.
  [[nodiscard]] Front front() noexcept {
    const Word head = head_.load(sync::edge("linked:look", sync::seq_cst));
    LinkedCell* tail = tail_.load(sync::edge("linked:look", sync::seq_cst));
    LinkedCell* before = cell_of(head);
    if (before == tail) return {};
    LinkedCell* first = before->newer.load(sync::edge("linked:next", sync::acquire));
    if (first == nullptr) first = link(tail, before);
    return {head, first};
  }
  /// Called by an agent inside an epoch: the cell behind `cell`, which it has reached in this
  /// scope. Returns null when there is none yet.
  [[nodiscard]] LinkedCell* next(LinkedCell& cell) noexcept {
    LinkedCell* newer = cell.newer.load(sync::edge("linked:next", sync::acquire));
    if (newer != nullptr) return newer;
    LinkedCell* tail = tail_.load(sync::edge("linked:look", sync::seq_cst));
    return tail == &cell ? nullptr : link(tail, &cell);
  }
  /// Called by an agent inside an epoch: takes the cell that front() returned. Returns false when
  /// another agent has taken it.
  [[nodiscard]] bool take(CellEpochs& epochs, unsigned agent, const Front& front) noexcept {
    Word before = front.before;
    if (!head_.compare_exchange_strong(before, word(front.cell, version(before)),
                                       sync::edge("linked:take", sync::seq_cst),
                                       sync::relaxed)) {  // relaxed: a failure only retries.
      return false;
    }
    take_out(epochs, agent, *cell_of(before));
    return true;
  }
  /// Claims the item of a cell, whether or not the caller has taken that cell. Returns null when it
  /// is empty.
  [[nodiscard]] static void* claim(LinkedCell& cell) noexcept {
    return cell.item.exchange(nullptr, sync::edge("linked:claim", sync::acq_rel));
  }
  /// Called by an agent inside an epoch: takes the oldest item. Returns null when there is none.
  [[nodiscard]] void* pop(CellEpochs& epochs, unsigned agent) noexcept {
    for (;;) {
      const Front first = front();
      if (first.cell == nullptr) return nullptr;
      if (!take(epochs, agent, first)) continue;
      if (void* item = claim(*first.cell)) return item;
    }
  }

  /// Called by the sweeper, inside an epoch: takes out empty cells. With `from` null it takes them
  /// from the front; otherwise it takes the row of empty cells right behind `from`, which is a cell
  /// that is not empty, up to the next cell. It takes at most `most` at once, and counts `most`
  /// down. Returns the last cell that it has looked at, or null when nothing is behind.
  [[nodiscard]] LinkedCell* sweep(CellEpochs& epochs, unsigned agent, LinkedCell* from,
                                  unsigned& most) noexcept {
    if (from == nullptr) return pass_empty(epochs, agent, most);
    LinkedCell* first = next(*from);
    LinkedCell* behind = first;
    for (LinkedCell* after = nullptr; behind != nullptr && most > 0 && is_empty(*behind); --most) {
      after = next(*behind);
      if (after == nullptr) break;  // the newest stays
      behind = after;
    }
    if (first != behind) unlink(epochs, agent, *from, *first, *behind);
    return behind;
  }
  [[nodiscard]] static bool is_empty(const LinkedCell& cell) noexcept {
    return cell.item.load(sync::edge("linked:empty", sync::acquire)) == nullptr;
  }

 private:
  static Word word(LinkedCell* cell, Word version) noexcept {
    return version << address_bits | reinterpret_cast<Word>(cell);
  }
  static LinkedCell* cell_of(Word word) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): made by word()
    return reinterpret_cast<LinkedCell*>(word & ((Word{1} << address_bits) - 1));
  }
  static Word version(Word word) noexcept { return word >> address_bits; }

  /// Links `cell` behind `older`, unless another thread has done so.
  static void link_to(LinkedCell& older, LinkedCell& cell) noexcept {
    LinkedCell* none = nullptr;
    older.newer.compare_exchange_strong(none, &cell, sync::edge("linked:link", sync::release),
                                        sync::relaxed);  // relaxed: nothing is read then.
  }
  static LinkedCell* back(const LinkedCell& cell) noexcept {
    return cell.older.load(sync::edge("linked:back", sync::acquire));
  }
  /// Fills in `newer` from the newest cell down to `head`, or to a cell that once stood behind it.
  /// Returns the cell after that one.
  static LinkedCell* link(LinkedCell* tail, LinkedCell* head) noexcept {
    LinkedCell* cell = tail;
    for (LinkedCell* older = back(*cell); older != head; older = back(*cell)) {
      link_to(*older, *cell);
      cell = older;
    }
    link_to(*head, *cell);
    return cell;
  }
  static void take_out(CellEpochs& epochs, unsigned agent, LinkedCell& cell) noexcept {
    if (cell.try_leave()) epochs.retire(agent, cell);
  }

  // What only the sweeper calls.

  /// Moves head_ over empty cells. Returns the first cell that is not empty, or to which it has not
  /// come.
  LinkedCell* pass_empty(CellEpochs& epochs, unsigned agent, unsigned& most) noexcept {
    for (; most > 0; --most) {
      const Front first = front();
      if (first.cell == nullptr || !is_empty(*first.cell)) return first.cell;
      static_cast<void>(take(epochs, agent, first));  // or another agent has taken it
    }
    return front().cell;
  }
  /// Unlinks the cells from `first` to the one before `behind` (I3).
  void unlink(CellEpochs& epochs, unsigned agent, LinkedCell& before, LinkedCell& first,
              LinkedCell& behind) noexcept {
    before.newer.store(&behind, sync::edge("linked:link", sync::release));
    const LinkedCell* head = raise_version();
    for (LinkedCell* cell = &first; cell != &behind; cell = next(*cell)) {
      if (cell == head) return;
    }
    behind.older.store(&before, sync::edge("linked:unlink", sync::release));
    for (LinkedCell *cell = &first, *after = nullptr; cell != &behind; cell = after) {
      after = next(*cell);
      take_out(epochs, agent, *cell);
    }
  }
  LinkedCell* raise_version() noexcept {
    Word old = head_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (!head_.compare_exchange_weak(old, word(cell_of(old), version(old) + 1),
                                        sync::edge("linked:bump", sync::seq_cst),
                                        sync::relaxed)) {  // relaxed: a failure only retries.
    }
    return cell_of(old);
  }

  sync::atomic<Word> head_{0};
  sync::atomic<LinkedCell*> tail_{nullptr};
};

}  // namespace HEIST_NAMESPACE::detail
