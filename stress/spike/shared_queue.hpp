// SharedQueue: the tasks of one (cluster, signal, is continuation), and the index in which agents find it.
#pragma once

#include <array>
#include <cstdint>
#include <heist/node_memory.hpp>
#include <heist/sync.hpp>

#include "linked_queue.hpp"
#include "spike_task.hpp"

namespace heist::spike {

// The tasks are not touched when the priority changes: the queue moves. A level's index is a queue of tickets, each
// of which names a queue; a ticket stays in its place while tasks are taken from its queue, so nothing is hidden.
//
// Roles   poster, re-prioritiser: any thread.  agent: inside an epoch.
// States  place_: (level, the level it comes from while it is on the move, version).
//         present_: for each level whether a ticket is there, and a version that each look at an empty queue raises.
// I1      A level's bit is set only after a ticket was put there within the same version. An agent removes a ticket
//         only if, after it has cleared the bit, the queue was empty, or elsewhere with a ticket there. So a set bit
//         means a ticket.
// I2      A queue with tasks has a ticket at its level, or is on the move and has one where it comes from: there it
//         counts until the ticket at its level is put and the hint is raised. Whoever moves it returns when nobody's
//         move is under way: it ends that of another thread, too.
// Why     poster: push, read the place, read the bit (or put a ticket there). Re-prioritiser: write the place, read
//         the bit (or put a ticket there). Agent: clear the bit, look for tasks and the place again, remove the ticket.
//         Of any two the later sees what the earlier did, all being seq_cst.
// D-edge  spike_shared: push <-> clear; push <-> place; place <-> clear.
// Bound   A ticket for each level, and one more for each thread that put one there while another one did, or an agent
//         looked; they go as they come to the front.
// Proof   stress/spike/models/{shared_queues,tickets,moves}.cpp.
template <unsigned Agents>
class SharedQueue {
 public:
  explicit SharedQueue(Level level) noexcept : place_(place(level, none, 0)) {}

  /// Any thread. The ticket comes next: ensure_ticket.
  void push(SpikeTask& task) { tasks_.push(*make_node<LinkedCell>(&task)); }
  [[nodiscard]] Level level() const noexcept { return level_of(where()); }

  using Place = std::uint64_t;
  [[nodiscard]] Place where() const noexcept {
    return place_.load(sync::edge("spike_shared:place", sync::seq_cst));
  }
  static Level level_of(Place place) noexcept { return static_cast<Level>(place & 15) - 1; }
  static bool is_moving(Place place) noexcept { return from_of(place) != none; }
  /// Any thread. The ticket comes next, then end_move(); until then it counts where it was.
  void start_move(Level to) noexcept {
    Place old = where();
    Place moved = 0;
    do {
      if (level_of(old) == to && !is_moving(old)) return;
      const Level from = is_moving(old) ? from_of(old) : level_of(old);
      moved = place(to, from, (old >> 8) + 1);
    } while (!place_.compare_exchange_weak(old, moved,
                                           sync::edge("spike_shared:place", sync::seq_cst),
                                           sync::edge("spike_shared:place", sync::seq_cst)));
  }
  /// Unless it has moved on.
  void end_move(Place moving) noexcept {
    place_.compare_exchange_strong(moving, place(level_of(moving), none, moving >> 8),
                                   sync::edge("spike_shared:place", sync::seq_cst),
                                   sync::relaxed);  // relaxed: the caller reads it anew.
  }

  /// A checker's view: only exact while no cell is freed.
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
  static constexpr Level none = -1;
  static Level from_of(Place place) noexcept { return static_cast<Level>((place >> 4) & 15) - 1; }
  static Place place(Level level, Level from, Place version) noexcept {
    return (version << 8) | (static_cast<Place>(from + 1) << 4) | static_cast<Place>(level + 1);
  }
  /// Whether agents take tasks by its ticket at this level.
  [[nodiscard]] bool counts_at(Level at) const noexcept {
    const Place now = where();
    return level_of(now) == at || from_of(now) == at;
  }
  [[nodiscard]] bool has_tasks_at(Level at) const noexcept {
    return counts_at(at) && !tasks_.empty();
  }

  LinkedQueue<Agents> tasks_;
  sync::atomic<Place> place_;
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

  /// A re-prioritiser, when its ticket is put and before the move ends: an agent may have searched the new level
  /// before that, and come to the old one too late.
  void count_move() noexcept {
    moves_.fetch_add(1, sync::edge("spike_shared:move", sync::seq_cst));
  }
  [[nodiscard]] std::uint64_t moves() const noexcept {
    return moves_.load(sync::edge("spike_shared:move", sync::seq_cst));
  }

  /// An agent: the first task of the first queue that has one at this level, or null.
  [[nodiscard]] SpikeTask* take(unsigned agent, Level level) noexcept {
    const typename CellEpochs::Inside inside(epochs_, agent);
    for (;;) {
      const auto ticket = tickets(level).front();
      if (ticket.cell == nullptr) return nullptr;
      auto& queue = *static_cast<Queue*>(ticket.cell->item);
      if (queue.counts_at(level)) {
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
  sync::atomic<std::uint64_t> moves_{0};
};

}  // namespace heist::spike
