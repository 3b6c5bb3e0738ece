// SignalQueues: the shared queues of a signal in a cluster, and the tickets that name them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <memory>
#include <new>

#include "signal_queue.hpp"

namespace HEIST_NAMESPACE::detail {

class SignalQueues;
struct SignalQueueEntry;

/// Names a queue, and holds a share of its pair.
struct TicketCell : LinkedCell {
  /// `holder` is the entry in whose memory the ticket stands; null when it has a node of its own.
  TicketCell(SignalQueue& queue, SignalQueues& owner, SignalQueueEntry* holder) noexcept;

 private:
  static void end_ticket(LinkedCell& cell) noexcept;
  /// The object of which the ticket holds a share: the pair if this bit is set, otherwise the entry
  /// in whose memory the ticket stands.
  static constexpr std::uintptr_t is_pair = 1;
  std::uintptr_t held_;
};

/// The place of a task or a continuation in a queue. It has memory for the tickets that its post
/// may need, because a thread that posts it when it expires, settles or is resumed has none to
/// spare (LIF-4).
///
/// Its memory is shared by the queue, the poster, the task, and each of its tickets. Until it is
/// posted it holds a share of its pair: an abort may end the task's signal before that. The post
/// takes that share over. An entry that kept it would keep the pair for ever, because a queue keeps
/// the last entry that it had.
///
/// Edge cell: post -> claim. Whoever takes an aborted task back finds what its poster has finished.
struct SignalQueueEntry : LinkedCell {
  SignalQueueEntry(LoopNode& node, SignalQueues& owner, SignalQueue& where) noexcept;

  /// Called by the poster, which gets the share of the pair: agents can take the entry from now on.
  [[nodiscard]] Ref<SignalQueues> begin_post() noexcept {
    is_posted_ = true;
    const auto tagged_node = reinterpret_cast<std::uintptr_t>(
        item.load(sync::relaxed));  // relaxed: nobody changes it before it is posted.
    // NOLINTNEXTLINE(performance-no-int-to-ptr): made by tagged()
    item.store(reinterpret_cast<void*>(tagged_node & ~not_posted),
               sync::edge("cell:post", sync::release));
    return Ref<SignalQueues>::adopt(&pair);
  }
  /// Called by the agent that reaps an aborted task: takes the task out of its queue. Returns false
  /// when it is not there.
  [[nodiscard]] bool try_take_back() noexcept {
    void* node = item.load(sync::edge("cell:claim", sync::acquire));
    const auto bits = reinterpret_cast<std::uintptr_t>(node);
    if (node == nullptr || (bits & not_posted) != 0) return false;
    return item.compare_exchange_strong(node, nullptr, sync::edge("linked:claim", sync::acq_rel),
                                        sync::relaxed);  // relaxed: nothing is read then.
  }

  /// Called by the poster, at most twice: makes a ticket for a level (ClusterQueues::post).
  [[nodiscard]] TicketCell* make_ticket() noexcept {
    shares_.add();
    return std::construct_at(reinterpret_cast<TicketCell*>(&tickets_[made_++]), queue, pair, this);
  }
  /// Called by the poster when the task has found its place.
  void end_post() noexcept { drop_share(); }
  /// Called by the maker, which releases the entry, whether or not it was posted.
  void drop() noexcept { is_posted_ ? drop_share() : drop_unposted(); }

  SignalQueues& pair;
  SignalQueue& queue;
  std::uint64_t stamp = 0;  ///< since when the task waits, for the contract WAIT

 private:
  friend struct TicketCell;
  struct alignas(TicketCell) TicketMemory {
    std::array<std::byte, sizeof(TicketCell)> bytes;
  };

  static void end_cell(LinkedCell& cell) noexcept {
    static_cast<SignalQueueEntry&>(cell).drop_share();
  }
  void drop_share() noexcept {
    if (shares_.drop()) destroy_node(*this);
  }
  void drop_unposted() noexcept;

  static constexpr std::uintptr_t not_posted = 1;
  static void* tagged(LoopNode& node) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a mark that begin_post() takes off
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&node) | not_posted);
  }

  RefCount shares_{3};
  std::uint16_t made_ = 0;
  bool is_posted_ = false;
  std::array<TicketMemory, 2> tickets_;
};

/// A queue for tasks and a queue for continuations. Tickets hold shares, so that a queue with tasks
/// stays alive.
///
/// Edge pair: give_spare -> take_spare. Carries the memory.
class SignalQueues {
 public:
  /// Errors: std::bad_alloc.
  SignalQueues(int level, int continuation_level)
      : queues_{SignalQueue(level), SignalQueue(continuation_level)} {}
  SignalQueues(const SignalQueues&) = delete;
  SignalQueues& operator=(const SignalQueues&) = delete;
  ~SignalQueues() {
    for (auto& spare : spares_) {
      if (void* memory = take(spare)) release_node(memory, sizeof(TicketCell));
    }
  }

  [[nodiscard]] SignalQueue& queue(bool is_continuation) noexcept {
    return queues_[is_continuation ? 1 : 0];
  }

  /// Whether the pair has not been moved yet.
  [[nodiscard]] bool is_new() const noexcept { return queues_[1].is_new(); }

  /// To be called before a move: keeps memory for a ticket of each queue.   Errors: std::bad_alloc.
  void reserve() {
    for (auto& spare : spares_) reserve(spare);
  }
  /// Makes a ticket for a move. Null when memory has run out, and another thread's move has used
  /// what was kept (broken_two_moves_without_memory).
  [[nodiscard]] TicketCell* make_ticket(SignalQueue& queue) noexcept {
    void* memory = take(spares_[&queue == queues_.data() ? 0 : 1]);
    try {
      if (memory == nullptr) memory = allocate_node(sizeof(TicketCell));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    return std::construct_at(static_cast<TicketCell*>(memory), queue, *this, nullptr);
  }

  friend void retain(SignalQueues& pair) noexcept { pair.shares_.add(); }
  friend void release(SignalQueues& pair) noexcept {
    if (pair.shares_.drop()) destroy_node(pair);
  }

 private:
  using Spare = sync::atomic<void*>;

  static void reserve(Spare& spare) {
    // relaxed: only whether there is some.
    if (spare.load(sync::relaxed) != nullptr) return;
    void* memory = allocate_node(sizeof(TicketCell));
    void* none = nullptr;
    if (!spare.compare_exchange_strong(none, memory, sync::edge("pair:give_spare", sync::release),
                                       sync::relaxed)) {  // relaxed: another thread has given one.
      release_node(memory, sizeof(TicketCell));
    }
  }
  [[nodiscard]] static void* take(Spare& spare) noexcept {
    return spare.exchange(nullptr, sync::edge("pair:take_spare", sync::acquire));
  }

  RefCount shares_{1};
  std::array<Spare, 2> spares_{};
  std::array<SignalQueue, 2> queues_;
};

inline SignalQueueEntry::SignalQueueEntry(LoopNode& node, SignalQueues& owner,
                                          SignalQueue& where) noexcept
    : LinkedCell(tagged(node), &end_cell), pair(owner), queue(where) {
  retain(owner);
}

inline void SignalQueueEntry::drop_unposted() noexcept {
  SignalQueues& owner = pair;
  destroy_node(*this);
  release(owner);
}

inline TicketCell::TicketCell(SignalQueue& queue, SignalQueues& owner,
                              SignalQueueEntry* holder) noexcept
    : LinkedCell(&queue, &end_ticket),
      held_(holder != nullptr ? reinterpret_cast<std::uintptr_t>(holder)
                              : reinterpret_cast<std::uintptr_t>(&owner) | is_pair) {
  retain(owner);
}

inline void TicketCell::end_ticket(LinkedCell& cell) noexcept {
  auto& ticket = static_cast<TicketCell&>(cell);
  const auto held = ticket.held_;
  if ((held & is_pair) != 0) {
    destroy_node(ticket);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): made by the constructor
    return release(*reinterpret_cast<SignalQueues*>(held & ~is_pair));
  }
  std::destroy_at(&ticket);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
  auto& holder = *reinterpret_cast<SignalQueueEntry*>(held);
  SignalQueues& pair = holder.pair;
  holder.drop_share();
  release(pair);
}
static_assert(sizeof(SignalQueueEntry) <= 192, "a class of the node pool");

}  // namespace HEIST_NAMESPACE::detail
