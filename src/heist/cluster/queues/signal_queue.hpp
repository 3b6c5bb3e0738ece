// SignalQueue: the tasks, or the continuations, of one signal in one cluster. The queue moves
// between levels as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>

#include "linked_queue.hpp"

namespace HEIST_NAMESPACE::detail {

// A change of priority does not touch the tasks: the queue moves. A level's index (level_index.hpp)
// is a queue of tickets, and each ticket names a queue. A ticket stays in its place while tasks are
// taken from its queue, so it hides nothing.
//
// Roles   poster, re-prioritiser: any thread.  agent: inside an epoch.
// States  place_: (level, the level that the queue comes from while it moves, version). present_:
//         for each level, whether a ticket is there; and a version, which each look at an empty
//         queue raises.
// I1      A set bit means that there is a ticket. It is set only after a ticket was put there
//         within the same version. An agent that removes a ticket clears the bit first, and then
//         looks at the queue again. It removes the ticket only if the queue is empty, or stands at
//         another level and has a ticket there.
// I2      A queue with tasks has a ticket at its level, or it moves and has a ticket at the level
//         that it comes from. There it counts until the ticket at its new level is put and the hint
//         is raised. Whoever moves the queue returns only when no move is under way; it also ends
//         the move of another thread. Whoever posts during a move puts a ticket at both levels,
//         because the next move may go back to the first one.
// I3      A mover reads the place before it reads the priority, and every change of priority writes
//         the place. So a mover that read an older priority finds another version, and reads again.
// Why     Poster: push, read the place, read the bit (or put a ticket there). Re-prioritiser: write
//         the place, read the bit (or put a ticket there). Agent: clear the bit, look for tasks and
//         the place again, remove the ticket. Of any two of these the later one sees what the
//         earlier one did, because all operations are seq_cst.
// Edge shared: place, bit <-> clear. See Why above. LinkedQueue's push and look publish and find
//         the tasks.
// Bound   One ticket for each level, and one more for each thread that put a ticket there while
//         another thread did so, or while an agent looked. These leave as they come to the front.
// Proof   stress/model/models/cluster_{shared,moves}.cpp.
class SignalQueue {
 public:
  using CellEpochs = LinkedQueue::CellEpochs;

  /// Errors: std::bad_alloc.
  explicit SignalQueue(int level) : place_(place(level, none, 0)) {}

  /// Called by any thread. LevelIndex::ensure has to follow, for the ticket.
  void push(LinkedCell& cell) noexcept { tasks_.push(cell); }
  [[nodiscard]] int level() const noexcept { return level_of(where()); }

  using Place = std::uint64_t;
  [[nodiscard]] Place where() const noexcept {
    return place_.load(sync::edge("shared:place", sync::seq_cst));
  }
  static int level_of(Place place) noexcept { return static_cast<int>(place & 15) - 1; }
  static bool is_moving(Place place) noexcept { return from_of(place) != none; }
  /// The level that the queue comes from.   Precondition: it is moving.
  static int from_of(Place place) noexcept { return static_cast<int>((place >> 4) & 15) - 1; }
  /// Whether nobody has read the priority since the queue could first be found.
  [[nodiscard]] bool is_new() const noexcept { return (where() >> 8) == 0; }
  /// Called by any thread: moves the queue to the level that `level()` reads, again each time
  /// another thread moves it. The ticket has to follow, then end_move(). Until then the queue
  /// counts at its old level.
  template <class Level>
  void start_move(Level&& level) noexcept {
    Place old = where();
    for (;;) {
      const int to = level();
      const int from = is_moving(old) ? from_of(old) : to == level_of(old) ? none : level_of(old);
      const Place moved = place(to, from, (old >> 8) + 1);
      if (place_.compare_exchange_weak(old, moved, sync::edge("shared:place", sync::seq_cst),
                                       sync::edge("shared:place", sync::seq_cst))) {
        return;
      }
    }
  }
  /// Ends the move, unless the queue has moved again.
  void end_move(Place moving) noexcept {
    place_.compare_exchange_strong(moving, place(level_of(moving), none, moving >> 8),
                                   sync::edge("shared:place", sync::seq_cst),
                                   sync::relaxed);  // relaxed: the caller reads it anew.
  }

  // What LevelIndex calls.

  /// Whether agents take tasks by the queue's ticket at this level.
  [[nodiscard]] bool counts_at(int at) const noexcept {
    const Place now = where();
    return level_of(now) == at || from_of(now) == at;
  }
  /// Called by an agent inside an epoch.
  [[nodiscard]] bool has_tasks_at(int at) const noexcept {
    return counts_at(at) && !tasks_.empty();
  }
  /// Called by an agent inside an epoch: takes the oldest task. Returns null when there is none.
  [[nodiscard]] LoopNode* pop(CellEpochs& epochs, unsigned agent) noexcept {
    return static_cast<LoopNode*>(tasks_.pop(epochs, agent));
  }
  /// Called by the sweeper; see LinkedQueue.
  [[nodiscard]] LinkedCell* sweep(CellEpochs& epochs, unsigned agent, LinkedCell* from,
                                  unsigned& most) noexcept {
    return tasks_.sweep(epochs, agent, from, most);
  }
  /// Called by an agent inside an epoch: the number of tasks.   Cost: a step for each of them.
  [[nodiscard]] std::size_t count() noexcept {
    std::size_t tasks = 0;
    for (LinkedCell* cell = tasks_.front().cell; cell != nullptr; cell = tasks_.next(*cell)) {
      if (!LinkedQueue::is_empty(*cell)) ++tasks;
    }
    return tasks;
  }
  [[nodiscard]] bool is_last(LinkedCell& cell) noexcept { return tasks_.next(cell) == nullptr; }

  /// Called by an agent inside an epoch: looks at the oldest task without taking it.
  [[nodiscard]] LinkedQueue::Front front() noexcept { return tasks_.front(); }
  /// Called by an agent inside an epoch: takes the task that front() returned. Returns null when
  /// another agent has taken it, or when it has left its cell.
  [[nodiscard]] LoopNode* take(CellEpochs& epochs, unsigned agent,
                               const LinkedQueue::Front& front) noexcept {
    if (!tasks_.take(epochs, agent, front)) return nullptr;
    return static_cast<LoopNode*>(LinkedQueue::claim(*front.cell));
  }

  using State = std::uint64_t;
  [[nodiscard]] State state() const noexcept {
    return present_.load(sync::edge("shared:bit", sync::seq_cst));
  }
  static bool has_bit(State state, int level) noexcept { return (state & bit(level)) != 0; }
  /// Sets the level's bit, unless an agent has looked since `before` was read.
  void set_bit(State before, int level) noexcept {
    present_.compare_exchange_strong(before, before | bit(level),
                                     sync::edge("shared:bit", sync::seq_cst),
                                     sync::relaxed);  // relaxed: nothing is read then.
  }
  void clear_bit(int level) noexcept {
    State before = state();
    while (!present_.compare_exchange_weak(before, (before & ~bit(level)) + version_step,
                                           sync::edge("shared:clear", sync::seq_cst),
                                           sync::edge("shared:clear", sync::seq_cst))) {
    }
  }

 private:
  friend struct QueueProbe;
  static constexpr State version_step = 1U << 8;
  static State bit(int level) noexcept { return State{1} << level; }
  static constexpr int none = -1;
  static Place place(int level, int from, Place version) noexcept {
    return (version << 8) | (static_cast<Place>(from + 1) << 4) | static_cast<Place>(level + 1);
  }

  LinkedQueue tasks_;
  sync::atomic<Place> place_;
  sync::atomic<State> present_{0};
};

}  // namespace HEIST_NAMESPACE::detail
