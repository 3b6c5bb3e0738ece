// SharedPair: the shared queues of a signal in a cluster, and the tickets that name them.
#pragma once

#include <array>
#include <heist/node_memory.hpp>
#include <heist/ref.hpp>
#include <heist/sync.hpp>
#include <memory>
#include <new>

#include "shared_queue.hpp"

namespace heist {

class SharedPair;

/// A task's or continuation's place in a queue.
struct SharedCell : LinkedCell {
  SharedCell(LoopNode& node, SharedPair& owner, SharedQueue& in) noexcept
      : LinkedCell(&node, &end_cell), pair(owner), queue(in) {}
  SharedPair& pair;
  SharedQueue& queue;

 private:
  static void end_cell(LinkedCell& cell) noexcept { destroy_node(static_cast<SharedCell&>(cell)); }
};

/// Names a queue, and holds a share of its pair.
struct TicketCell : LinkedCell {
  TicketCell(SharedQueue& queue, SharedPair& owner) noexcept;
  SharedPair& pair;

 private:
  static void end_ticket(LinkedCell& cell) noexcept;
};

/// One queue for tasks, one for continuations. Tickets hold shares, so that a queue with tasks lasts.
///
/// Edge pair: give_spare -> take_spare. Carries the memory.
class SharedPair {
 public:
  /// Errors: std::bad_alloc.
  SharedPair(int level, int continuation_level)
      : queues_{SharedQueue(level), SharedQueue(continuation_level)} {
    reserve();
  }
  SharedPair(const SharedPair&) = delete;
  SharedPair& operator=(const SharedPair&) = delete;
  ~SharedPair() {
    if (void* memory = take_spare()) release_node_for<TicketCell>(memory);
  }

  [[nodiscard]] SharedQueue& queue(bool is_continuation) noexcept {
    return queues_[is_continuation ? 1 : 0];
  }

  /// Until it has been moved for the first time.
  [[nodiscard]] bool is_new() const noexcept { return queues_[1].is_new(); }

  /// Before a post: keeps memory for a ticket, for make_ticket().   Errors: std::bad_alloc.
  void reserve() {
    // relaxed: only whether there is some.
    if (spare_.load(sync::relaxed) != nullptr) return;
    void* memory = allocate_node_for<TicketCell>();
    void* none = nullptr;
    if (!spare_.compare_exchange_strong(none, memory, sync::edge("pair:give_spare", sync::release),
                                        sync::relaxed)) {  // relaxed: another thread has given one.
      release_node_for<TicketCell>(memory);
    }
  }
  /// When memory has run out: from what was kept. Null: another thread has that.
  [[nodiscard]] TicketCell* make_ticket(SharedQueue& queue) noexcept {
    try {
      return make_node<TicketCell>(queue, *this);
    } catch (const std::bad_alloc&) {
      void* memory = take_spare();
      if (memory == nullptr) return nullptr;
      return std::construct_at(static_cast<TicketCell*>(memory), queue, *this);
    }
  }

  friend void retain(SharedPair& pair) noexcept { pair.shares_.add(); }
  friend void release(SharedPair& pair) noexcept {
    if (pair.shares_.drop()) destroy_node(pair);
  }

 private:
  [[nodiscard]] void* take_spare() noexcept {
    return spare_.exchange(nullptr, sync::edge("pair:take_spare", sync::acquire));
  }

  RefCount shares_{1};
  sync::atomic<void*> spare_{nullptr};
  std::array<SharedQueue, 2> queues_;
};

inline TicketCell::TicketCell(SharedQueue& queue, SharedPair& owner) noexcept
    : LinkedCell(&queue, &end_ticket), pair(owner) {
  retain(owner);
}

inline void TicketCell::end_ticket(LinkedCell& cell) noexcept {
  auto& ticket = static_cast<TicketCell&>(cell);
  SharedPair& pair = ticket.pair;
  destroy_node(ticket);
  release(pair);
}

}  // namespace heist
