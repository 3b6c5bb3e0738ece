// LevelIndex: finds, by level, the shared queues of a cluster in which tasks may stand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>
#include <utility>

#include "signal_queues.hpp"

namespace HEIST_NAMESPACE::detail {

/// SignalQueue explains how queues, tickets and levels work together.
///
/// Edge moves: count <-> look. Put the ticket, count, end the move; look, search from the highest
///         level down, look again.
class LevelIndex {
 public:
  using CellEpochs = SignalQueue::CellEpochs;

  /// Errors: std::bad_alloc.
  explicit LevelIndex(unsigned agents) : LevelIndex(agents, agents) {}
  /// See Epochs.
  LevelIndex(unsigned agents, unsigned enlisted) : epochs_(agents, enlisted) {}
  void enlist(unsigned count) noexcept { epochs_.enlist(count); }

  /// Called by any thread after a push or a change of level: makes sure that a ticket stands where
  /// agents look for this level. `make()` returns a ticket of the queue, or null. After null,
  /// ensure() looks again whether a ticket is needed.
  template <class Make>
  void ensure(SignalQueue& queue, int level, Make&& make) noexcept {
    for (auto before = queue.state(); !SignalQueue::has_bit(before, level);
         before = queue.state()) {
      TicketCell* ticket = make();
      if (ticket == nullptr) continue;
      tickets(level).push(*ticket);
      // If an agent has looked since, the ticket is there all the same, because that agent saw the
      // push.
      return queue.set_bit(before, level);
    }
  }

  /// Called by a re-prioritiser after it has put its ticket and before it ends the move. Without
  /// the count an agent could search the new level before the ticket stands there, and the old
  /// level after the move.
  void count_move() noexcept { moves_.fetch_add(1, sync::edge("moves:count", sync::seq_cst)); }
  [[nodiscard]] std::uint64_t moves() const noexcept {
    return moves_.load(sync::edge("moves:look", sync::seq_cst));
  }

  /// The scope in which an agent looks at the index.
  class Inside : public CellEpochs::Inside {
   public:
    Inside(LevelIndex& index, unsigned agent) noexcept : CellEpochs::Inside(index.epochs_, agent) {}
  };

  /// Called by an agent inside an epoch: takes the first task of the first queue that has one at
  /// this level. Returns null when there is none.
  [[nodiscard]] LoopNode* take(unsigned agent, int level) noexcept {
    for (;;) {
      const auto ticket = tickets(level).front();
      if (ticket.cell == nullptr) return nullptr;
      SignalQueue* queue = queue_of(*ticket.cell);
      if (queue != nullptr && queue->counts_at(level)) {
        if (LoopNode* task = queue->pop(epochs_, agent)) return task;
      }
      clean(ticket, queue, agent, level);
    }
  }
  /// Called by an agent inside an epoch: calls visit(queue, front) for the queues of this level
  /// that have tasks, but for at most the first `most_looked_at`. Tickets stand in the order in
  /// which their queues got tasks.
  template <class Visit>
  void each_front(int level, Visit&& visit) noexcept {
    auto& all = tickets(level);
    unsigned left = most_looked_at;
    for (auto* ticket = all.front().cell; ticket != nullptr && left != 0; --left) {
      SignalQueue* queue = queue_of(*ticket);
      if (queue != nullptr && queue->counts_at(level)) {
        const auto front = queue->front();
        if (front.cell != nullptr) visit(*queue, front);
      }
      ticket = all.next(*ticket);
    }
  }
  /// Called by an agent inside an epoch: takes a task that each_front() has shown. Returns null
  /// when another agent has taken it.
  [[nodiscard]] LoopNode* take(unsigned agent, SignalQueue& queue,
                               const LinkedQueue::Front& front) noexcept {
    return queue.take(epochs_, agent, front);
  }
  /// Called by an agent inside an epoch: whether take() would return a task.
  [[nodiscard]] bool has_tasks(unsigned agent, int level) noexcept {
    for (;;) {
      const auto ticket = tickets(level).front();
      if (ticket.cell == nullptr) return false;
      SignalQueue* queue = queue_of(*ticket.cell);
      if (queue != nullptr && queue->has_tasks_at(level)) return true;
      clean(ticket, queue, agent, level);
    }
  }

  /// Called by an agent inside an epoch: calls `visit(const SignalQueue&, tasks)` for each queue of
  /// this level that has tasks. One that moves to the level or from it meanwhile may come twice, or
  /// not at all.   Cost: a step for each task.
  template <class Visit>
  void count_queues(int level, Visit&& visit) {
    const SignalQueue* before = nullptr;
    auto& all = tickets(level);
    for (auto* ticket = all.front().cell; ticket != nullptr; ticket = all.next(*ticket)) {
      SignalQueue* queue = queue_of(*ticket);
      if (queue == nullptr || queue == before || !queue->counts_at(level)) continue;
      if (const std::size_t tasks = queue->count(); tasks != 0) visit(*queue, tasks);
      before = queue;
    }
  }

  /// Called by an agent that is the sweeper: goes on through the queues of a level, for at most
  /// `cells` cells of tasks and tickets, and takes out the empty ones. `left` counts the tasks that
  /// stay. Returns false at the end of the level.
  [[nodiscard]] bool sweep(unsigned agent, int level, unsigned cells,
                           std::uint64_t& left) noexcept {
    const Inside inside(*this, agent);
    while (cells > 0) {
      // Otherwise the cell has been taken, so agents come to this level and no sweep is needed.
      const bool is_here = swept_.before == nullptr || !LinkedQueue::is_empty(*swept_.before);
      if (!is_here || !sweep_step(agent, level, cells, left)) {
        swept_ = {};
        return false;
      }
      if (cells > 0) --cells;  // for the cell that the sweep has come to
    }
    return true;
  }

 private:
  /// The queue that a ticket names. Returns null when the ticket has been removed from its cell.
  static SignalQueue* queue_of(const LinkedCell& ticket) noexcept {
    return static_cast<SignalQueue*>(ticket.item.load(sync::edge("linked:empty", sync::acquire)));
  }
  /// Whether the ticket of a queue may be removed, because the queue is still empty or stands at
  /// another level.
  static bool may_go(SignalQueue& queue, int level) noexcept {
    queue.clear_bit(level);
    return !queue.has_tasks_at(level);
  }
  void clean(const LinkedQueue::Front& ticket, SignalQueue* queue, unsigned agent,
             int level) noexcept {
    if (queue != nullptr && !may_go(*queue, level)) return;
    // If this fails, another agent has removed the ticket.
    if (tickets(level).take(epochs_, agent, ticket))
      static_cast<void>(LinkedQueue::claim(*ticket.cell));
  }

  /// A cell that the sweeper holds between two portions, so that it is still the same cell when the
  /// sweep goes on.
  class HeldCell {
   public:
    HeldCell() noexcept = default;
    HeldCell& operator=(const HeldCell&) = delete;
    HeldCell& operator=(HeldCell&& other) noexcept {
      std::swap(cell_, other.cell_);
      return *this;
    }
    HeldCell(HeldCell&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    explicit HeldCell(LinkedCell& cell) noexcept : cell_(&cell) { cell.hold(); }
    ~HeldCell() {
      if (cell_ != nullptr) cell_->end();
    }
    [[nodiscard]] bool operator==(std::nullptr_t) const noexcept { return cell_ == nullptr; }
    [[nodiscard]] LinkedCell& operator*() const noexcept { return *cell_; }
    [[nodiscard]] LinkedCell* get() const noexcept { return cell_; }

   private:
    LinkedCell* cell_ = nullptr;
  };
  /// How far the sweep of a level has come. None of these cells was empty when the sweep came to
  /// it.
  struct Swept {
    HeldCell before;  ///< the ticket before `ticket`
    HeldCell ticket;
    HeldCell task;  ///< a cell in the queue of `ticket`
  };

  /// Sweeps the empty cells up to the next one that is not empty; `cells` counts them down. Returns
  /// false when there are no more cells.
  [[nodiscard]] bool sweep_step(unsigned agent, int level, unsigned& cells,
                                std::uint64_t& left) noexcept {
    if (swept_.ticket == nullptr) return find_ticket(agent, level, cells);
    SignalQueue* queue = queue_of(*swept_.ticket);
    const bool is_here =
        queue != nullptr && (swept_.task == nullptr || !LinkedQueue::is_empty(*swept_.task));
    if (is_here) {
      LinkedCell* cell = queue->sweep(epochs_, agent, swept_.task.get(), cells);
      const bool is_empty = cell != nullptr && LinkedQueue::is_empty(*cell);
      if (cell != nullptr && !is_empty) {
        ++left;
        swept_.task = HeldCell(*cell);
        return true;
      }
      if (is_empty && !queue->is_last(*cell)) return true;
      if (!queue->has_tasks_at(level) && may_go(*queue, level))
        static_cast<void>(LinkedQueue::claim(*swept_.ticket));
    }
    if (!LinkedQueue::is_empty(*swept_.ticket)) swept_.before = std::move(swept_.ticket);
    swept_.ticket = {};
    swept_.task = {};
    return true;
  }
  [[nodiscard]] bool find_ticket(unsigned agent, int level, unsigned& cells) noexcept {
    auto& all = tickets(level);
    LinkedCell* ticket = all.sweep(epochs_, agent, swept_.before.get(), cells);
    if (ticket == nullptr) return false;
    if (LinkedQueue::is_empty(*ticket)) return all.next(*ticket) != nullptr;
    swept_.ticket = HeldCell(*ticket);
    return true;
  }
  [[nodiscard]] LinkedQueue& tickets(int level) noexcept {
    return tickets_[static_cast<std::size_t>(level)];
  }

  static constexpr unsigned most_looked_at = 256;

  CellEpochs epochs_;
  std::array<LinkedQueue, level_count> tickets_;
  sync::atomic<std::uint64_t> moves_{0};
  Swept swept_;  ///< the sweeper's
};

}  // namespace HEIST_NAMESPACE::detail
