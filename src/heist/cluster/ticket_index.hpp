// TicketIndex: the shared queues of a cluster with tasks, by level.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/priority.hpp>
#include <heist/sync.hpp>

#include "shared_pair.hpp"

namespace heist {

/// See SharedQueue.
///
/// Edge moves: count <-> look. Put the ticket, count, end the move; look, search from the highest level down, look again.
class TicketIndex {
 public:
  using CellEpochs = SharedQueue::CellEpochs;

  /// Errors: std::bad_alloc.
  explicit TicketIndex(unsigned agents) : TicketIndex(agents, agents) {}
  /// See Epochs.
  TicketIndex(unsigned agents, unsigned enlisted) : epochs_(agents, enlisted) {}
  void enlist(unsigned count) noexcept { epochs_.enlist(count); }

  /// Any thread, after a push or a change of level: sees to it that there is a ticket where agents look for this level.
  /// `make()`: one of the queue's, or null, upon which it looks again whether one is needed.
  template <class Make>
  void ensure(SharedQueue& queue, int level, Make&& make) noexcept {
    for (auto before = queue.state(); !SharedQueue::has_bit(before, level);
         before = queue.state()) {
      TicketCell* ticket = make();
      if (ticket == nullptr) continue;
      tickets(level).push(*ticket);
      // If an agent has looked since, there is a ticket all the same: it saw what came before.
      return queue.set_bit(before, level);
    }
  }

  /// A re-prioritiser, when its ticket is put and before the move ends: an agent may have searched the new level
  /// before that, and come to the old one too late.
  void count_move() noexcept { moves_.fetch_add(1, sync::edge("moves:count", sync::seq_cst)); }
  [[nodiscard]] std::uint64_t moves() const noexcept {
    return moves_.load(sync::edge("moves:look", sync::seq_cst));
  }

  /// An agent's scope in which it looks.
  class Inside : public CellEpochs::Inside {
   public:
    Inside(TicketIndex& index, unsigned agent) noexcept
        : CellEpochs::Inside(index.epochs_, agent) {}
  };

  /// An agent inside: the first task of the first queue that has one at this level, or null.
  [[nodiscard]] LoopNode* take(unsigned agent, int level) noexcept {
    for (;;) {
      const auto ticket = tickets(level).front();
      if (ticket.cell == nullptr) return nullptr;
      auto& queue = *static_cast<SharedQueue*>(ticket.cell->item);
      if (queue.counts_at(level)) {
        if (LoopNode* task = queue.pop(epochs_, agent)) return task;
      }
      clean(ticket, queue, agent, level);
    }
  }
  /// An agent inside: calls visit(queue, front) for the queues of this level with tasks, but only the first `most_looked_at`
  /// ones. Tickets come in the order in which their queues got tasks.
  template <class Visit>
  void each_front(int level, Visit&& visit) noexcept {
    auto& all = tickets(level);
    unsigned left = most_looked_at;
    for (auto* ticket = all.front().cell; ticket != nullptr && left != 0; --left) {
      auto& queue = *static_cast<SharedQueue*>(ticket->item);
      if (queue.counts_at(level)) {
        const auto front = queue.front();
        if (front.cell != nullptr) visit(queue, front);
      }
      ticket = all.next(*ticket);
    }
  }
  /// An agent inside: takes what each_front() has shown; null when another agent has.
  [[nodiscard]] LoopNode* take(unsigned agent, SharedQueue& queue,
                               const LinkedQueue::Front& front) noexcept {
    return queue.take(epochs_, agent, front);
  }
  /// An agent inside: whether take() would give something.
  [[nodiscard]] bool has_tasks(unsigned agent, int level) noexcept {
    for (;;) {
      const auto ticket = tickets(level).front();
      if (ticket.cell == nullptr) return false;
      auto& queue = *static_cast<SharedQueue*>(ticket.cell->item);
      if (queue.has_tasks_at(level)) return true;
      clean(ticket, queue, agent, level);
    }
  }

 private:
  /// Removes the ticket of a queue that is empty, or elsewhere, unless that has changed.
  void clean(const LinkedQueue::Front& ticket, SharedQueue& queue, unsigned agent,
             int level) noexcept {
    queue.clear_bit(level);
    if (queue.has_tasks_at(level)) return;
    // Otherwise another agent has removed it.
    static_cast<void>(tickets(level).take(epochs_, agent, ticket));
  }
  [[nodiscard]] LinkedQueue& tickets(int level) noexcept {
    return tickets_[static_cast<std::size_t>(level)];
  }

  static constexpr unsigned most_looked_at = 256;

  CellEpochs epochs_;
  std::array<LinkedQueue, level_count> tickets_;
  sync::atomic<std::uint64_t> moves_{0};
};

}  // namespace heist
