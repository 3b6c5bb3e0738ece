// SharedQueue: the tasks of one (cluster, signal, is continuation), and the index in which agents find it.
#pragma once

#include <array>
#include <cstdint>
#include <heist/node_memory.hpp>
#include <heist/sync.hpp>

#include "linked_queue.hpp"
#include "spike_task.hpp"

namespace heist::spike {

/// What a queue reads its level from: a signal's priority, changed by set_priority.
using LiveLevel = sync::atomic<Level>;

// The tasks are not touched when the priority changes: the queue moves. A level's index is a queue of tickets, each
// of which names a queue; a ticket stays in its place while tasks are taken from its queue, so nothing is hidden.
//
// Roles   poster, re-prioritiser: any thread.  agent: inside an epoch.
// States  present_: for each level whether a ticket is there, and a version that each look at an empty queue raises.
// I1      A level's bit is set only after a ticket was put there within the same version. An agent removes a ticket
//         only if, after it has cleared the bit, the queue was still empty or elsewhere. So a set bit means a ticket.
// Why     poster: push, read the level, read the bit (or put a ticket there). Re-prioritiser: write the level, look
//         for tasks, read the bit. Agent: clear the bit, look for tasks and level again, remove the ticket. Of any two
//         the later sees what the earlier did, all being seq_cst.
// D-edge  spike_shared: push <-> clear; push <-> level; level <-> clear.
// Bound   a ticket for each level, and one more for each thread that put one there at the same time.
// Proof   stress/spike/models/shared_queues.cpp.
template <unsigned Agents>
class SharedQueue {
 public:
  explicit SharedQueue(LiveLevel& live) noexcept : live_(live) {}

  /// Any thread. The ticket comes next: ensure_ticket.
  void push(SpikeTask& task) { tasks_.push(*make_node<LinkedCell>(&task)); }
  [[nodiscard]] Level level() const noexcept {
    return live_.load(sync::edge("spike_shared:level", sync::seq_cst));
  }
  [[nodiscard]] bool empty() const noexcept { return tasks_.empty(); }

 private:
  template <unsigned, unsigned>
  friend class TicketIndex;

  using State = std::uint64_t;
  static constexpr State version_step = 1U << 8;
  static State bit(Level level) noexcept { return State{1} << level; }

  [[nodiscard]] State state() const noexcept {
    return present_.load(sync::edge("spike_shared:bit", sync::seq_cst));
  }
  /// False when an agent has looked since `before` was read.
  bool set_bit(State before, Level level) noexcept {
    return present_.compare_exchange_strong(before, before | bit(level),
                                            sync::edge("spike_shared:bit", sync::seq_cst),
                                            sync::relaxed);  // relaxed: the caller reads it anew.
  }
  void clear_bit(Level level) noexcept {
    State before = state();
    while (!present_.compare_exchange_weak(before, (before & ~bit(level)) + version_step,
                                           sync::edge("spike_shared:clear", sync::seq_cst),
                                           sync::edge("spike_shared:clear", sync::seq_cst))) {
    }
  }
  [[nodiscard]] bool has_tasks_at(Level level) const noexcept {
    return this->level() == level && !tasks_.empty();
  }

  LinkedQueue<Agents> tasks_;
  LiveLevel& live_;
  sync::atomic<State> present_{0};
};

/// All shared queues of a cluster with tasks, by level.
template <unsigned Agents, unsigned Levels>
class TicketIndex {
 public:
  using Queue = SharedQueue<Agents>;
  using CellEpochs = typename LinkedQueue<Agents>::CellEpochs;

  /// Any thread, after a push or a change of level: puts a ticket where agents look for this level.
  void ensure_ticket(Queue& queue, Level level) {
    for (auto before = queue.state(); (before & Queue::bit(level)) == 0; before = queue.state()) {
      tickets(level).push(*make_node<LinkedCell>(&queue));
      if (queue.set_bit(before, level)) return;
    }
  }

  /// An agent: the first task of the first queue that has one at this level, or null.
  [[nodiscard]] SpikeTask* take(unsigned agent, Level level) noexcept {
    const typename CellEpochs::Inside inside(epochs_, agent);
    for (;;) {
      const auto ticket = tickets(level).front();
      if (ticket.cell == nullptr) return nullptr;
      auto& queue = *static_cast<Queue*>(ticket.cell->item);
      if (queue.level() == level) {
        if (void* task = queue.tasks_.pop(epochs_, agent)) return static_cast<SpikeTask*>(task);
      }
      queue.clear_bit(level);
      if (!queue.has_tasks_at(level)) remove(ticket, agent, level);
    }
  }
  /// An agent: whether take() would give something.
  [[nodiscard]] bool has_tasks(unsigned agent, Level level) noexcept {
    const typename CellEpochs::Inside inside(epochs_, agent);
    for (;;) {
      const auto ticket = tickets(level).front();
      if (ticket.cell == nullptr) return false;
      auto& queue = *static_cast<Queue*>(ticket.cell->item);
      if (queue.has_tasks_at(level)) return true;
      queue.clear_bit(level);
      if (!queue.has_tasks_at(level)) remove(ticket, agent, level);
    }
  }

  /// A checker's view: each ticket of a level.
  template <class Visit>
  void each_ticket(Level level, Visit&& visit) const {
    tickets_[static_cast<std::size_t>(level)].each_item(visit);
  }

 private:
  void remove(const typename LinkedQueue<Agents>::Front& ticket, unsigned agent,
              Level level) noexcept {
    // Otherwise another agent has removed it.
    static_cast<void>(tickets(level).take(epochs_, agent, ticket));
  }
  LinkedQueue<Agents>& tickets(Level level) noexcept {
    return tickets_[static_cast<std::size_t>(level)];
  }

  CellEpochs epochs_;
  std::array<LinkedQueue<Agents>, Levels> tickets_;
};

}  // namespace heist::spike
