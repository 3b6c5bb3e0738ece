// TaskQueues: the scheduler task queues of one event loop, and which of them runs next.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/priority.hpp>

#include "../concurrent/own_count.hpp"
#include "pairing_heap.hpp"

namespace HEIST_NAMESPACE::detail {

/// Tasks in enqueue order. Only the agent touches it, and it does not own its tasks.
class TaskFifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] SchedulerTask* front() const noexcept { return static_cast<SchedulerTask*>(head_); }
  [[nodiscard]] SchedulerTask* back() const noexcept { return static_cast<SchedulerTask*>(tail_); }
  void push_back(SchedulerTask& task) noexcept {
    task.next = nullptr;
    task.prev = tail_;
    (tail_ != nullptr ? tail_->next : head_) = &task;
    tail_ = &task;
  }
  /// Inserts a task where its enqueue order belongs.   Cost: O(older ones).
  void insert_by_age(SchedulerTask& task) noexcept;
  /// Precondition: not empty.
  void pop_front() noexcept {
    head_ = head_->next;
    (head_ != nullptr ? head_->prev : tail_) = nullptr;
  }
  void erase(SchedulerTask& task) noexcept {
    (task.prev != nullptr ? task.prev->next : head_) = task.next;
    (task.next != nullptr ? task.next->prev : tail_) = task.prev;
  }

 private:
  LoopNode* head_ = nullptr;
  LoopNode* tail_ = nullptr;
};

/// The queue of one (TaskSignal, is continuation) on one loop, whose priority may change.
///
/// Spec: [sched#scheduler-dynamic-priority-task-queue-map]. Agent only. The queue's entry in that
/// map is its place in a level's index. The entry leaves when the queue is empty, and only the
/// queue's own entry can leave (ORD-6).
struct DynamicQueue {
  TaskFifo tasks;

  // The links of the index.
  DynamicQueue* child = nullptr;
  DynamicQueue* sibling = nullptr;
  DynamicQueue* previous = nullptr;

  /// The level where the queue stands. Its first task keeps it.   Precondition: it has a task.
  [[nodiscard]] int level() const noexcept { return tasks.front()->level; }
};

inline bool is_older(const DynamicQueue& a, const DynamicQueue& b) noexcept {
  return a.tasks.front()->key < b.tasks.front()->key;
}

/// The runnable dynamic queues of one level, by the age of their first task.   Agent only.
using QueueIndex = PairingHeap<DynamicQueue, &is_older>;

/// How many tasks have come to a level and left it, on one agent, which counts.
///
/// Thread: the agent changes them, and any thread reads what they were a moment ago.
struct LevelCounts {
  OwnCount pushed;     ///< into the loop's own queues
  OwnCount taken;      ///< out of them: by a pick, or back
  OwnCount stealable;  ///< stealable ones that the agent has picked from its cluster
  // Tasks that move with their signals. A queue moves in one step, so each of its tasks goes on
  // counting where it was posted until it is the first.
  OwnCount moved_in;
  OwnCount moved_out;
  // What has become of those that were taken, if they have not started.
  OwnCount aborted;
  OwnCount held;     ///< until their scheduler is resumed; then they are pushed anew
  OwnCount dropped;  ///< by a close

  [[nodiscard]] std::size_t waiting() const noexcept {
    const std::size_t gone = taken + moved_out;
    return difference(pushed + moved_in, gone);
  }
  [[nodiscard]] std::size_t started() const noexcept {
    const std::size_t otherwise = aborted + held + dropped;
    return difference(taken + stealable, otherwise);
  }

 private:
  /// The numbers are not of one moment, and so the first may not be the larger one.
  static std::size_t difference(std::size_t from, std::size_t what) noexcept {
    return from > what ? from - what : 0;
  }
};

/// All scheduler task queues of a loop. There are six levels; each has a static FIFO and an index
/// of dynamic queues.
///
/// Spec:   [sched#sec-scheduler-alg-select-next-task].   Thread: the agent.
/// Cost:   O(1) with static queues only; a pick from a dynamic queue is amortised O(log Q) (PRI-5).
class TaskQueues {
 public:
  /// Appends to the static queue of the task's level.
  void push(SchedulerTask& task) noexcept {
    const int level = task.static_level();
    task.level = static_cast<std::uint8_t>(level);
    task.place = TaskPlace::queued;
    auto& to = at(level);
    to.fifo.push_back(task);
    mark(level);
    ++to.counts.pushed;
  }
  /// Appends to a dynamic queue. If the queue was empty, it enters the index at `level`; otherwise
  /// the task only counts there.
  void push_dynamic(SchedulerTask& task, DynamicQueue& queue, int level) noexcept;

  /// These two do the same for a task that was queued before: it goes where its age belongs.
  void restore(SchedulerTask& task) noexcept;
  void restore(SchedulerTask& task, DynamicQueue& queue, int level) noexcept;

  /// Takes the oldest task of the highest level. Returns null when there is no task
  /// (select_next_scheduler_task_queue).
  [[nodiscard]] SchedulerTask* pop() noexcept {
    return occupied_ == 0 ? nullptr : pop_from(highest_level());
  }
  /// Takes the oldest task of an occupied level.
  [[nodiscard]] SchedulerTask* pop_from(int top) noexcept {
    auto& level = at(top);
    SchedulerTask* oldest = level.fifo.front();
    DynamicQueue* queue = level.dynamic.top();
    if (queue == nullptr) {
      level.fifo.pop_front();
      if (level.fifo.empty()) occupied_ &= ~(1U << top);
    } else if (oldest == nullptr || queue->tasks.front()->key < oldest->key) {
      oldest = queue->tasks.front();
      erase_from(*queue, *oldest);
    } else {
      level.fifo.pop_front();
    }
    oldest->place = TaskPlace::elsewhere;
    ++level.counts.taken;
    return oldest;
  }
  [[nodiscard]] bool has_tasks_at(int level) const noexcept {
    return (occupied_ >> level & 1U) != 0;
  }

  /// The task that pop_from() would take, or null if the level has none.
  [[nodiscard]] const SchedulerTask* oldest_at(int at) const noexcept {
    const auto& level = levels_[static_cast<std::size_t>(at)];
    const SchedulerTask* oldest = level.fifo.front();
    const DynamicQueue* queue = level.dynamic.top();
    if (queue == nullptr) return oldest;
    const SchedulerTask* dynamic = queue->tasks.front();
    return oldest == nullptr || dynamic->key < oldest->key ? dynamic : oldest;
  }

  /// Takes out a queued task that was aborted. `queue` is its dynamic queue, or null.
  void erase(SchedulerTask& task, DynamicQueue* queue) noexcept {
    assert(task.place == TaskPlace::queued);
    task.place = TaskPlace::elsewhere;
    ++counts(task.level).taken;
    ++counts(task.level).aborted;
    if (queue != nullptr) return erase_from(*queue, task);
    at(task.level).fifo.erase(task);
    unmark_if_empty(task.level);
  }

  /// Moves a dynamic queue with everything in it. Its tasks merge by age with those of the new
  /// level (PRI-4).
  void move(DynamicQueue& queue, int level) noexcept;

  /// Moves each dynamic queue to the level that `level_of(DynamicQueue&)` says.   Cost: O(Q log Q).
  template <class LevelOf>
  void relevel(LevelOf&& level_of) noexcept {
    DynamicQueue* all = take_dynamic();
    while (all != nullptr) {
      DynamicQueue* rest = all->sibling;
      enter(*all, level_of(*all));
      all = rest;
    }
  }

  [[nodiscard]] bool empty() const noexcept { return occupied_ == 0; }
  /// The number of all tasks here.   Thread: any; others than the agent see the number of a moment
  /// ago. What moves between levels meanwhile changes nothing of the sum.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Thread: any.
  [[nodiscard]] const LevelCounts& counts(int level) const noexcept {
    return levels_[static_cast<std::size_t>(level)].counts;
  }
  [[nodiscard]] LevelCounts& counts(int level) noexcept {
    return levels_[static_cast<std::size_t>(level)].counts;
  }
  /// The highest occupied level, or -1.
  [[nodiscard]] int top_level() const noexcept { return empty() ? -1 : highest_level(); }

 private:
  /// Precondition: not empty.
  [[nodiscard]] int highest_level() const noexcept { return 31 ^ std::countl_zero(occupied_); }

  /// The counts that a push and a pick change are beside the queues that these change.
  struct alignas(64) Level {
    TaskFifo fifo;
    QueueIndex dynamic;
    LevelCounts counts;
  };

  [[nodiscard]] Level& at(int level) noexcept { return levels_[static_cast<std::size_t>(level)]; }
  void set_level(SchedulerTask& first, int level) noexcept;
  void mark(int level) noexcept { occupied_ |= 1U << level; }
  void unmark_if_empty(int level) noexcept {
    if (at(level).fifo.empty() && at(level).dynamic.top() == nullptr) occupied_ &= ~(1U << level);
  }
  void erase_from(DynamicQueue& queue, SchedulerTask& task) noexcept;
  void change_first(DynamicQueue& queue, int level) noexcept;
  void enter(DynamicQueue& queue, int level) noexcept;
  [[nodiscard]] DynamicQueue* take_dynamic() noexcept;

  std::array<Level, level_count> levels_;
  unsigned occupied_ = 0;
};

/// The dynamic queue of a dynamic task (defined with its signal).
[[nodiscard]] DynamicQueue& dynamic_queue_of(ControlledTask& task) noexcept;

}  // namespace HEIST_NAMESPACE::detail
