// SchedulerCore: what a Scheduler handle names, and what it keeps while it is suspended.
#pragma once

#include <algorithm>
#include <array>
#include <heist/loop_node.hpp>
#include <heist/priority.hpp>
#include <heist/sync.hpp>

#include "task_queues.hpp"

namespace heist {

class LoopCore;

/// What agents of a cluster have taken from the queues while its scheduler was suspended.
///
/// Roles   suspender: any thread.  agent: a member that has picked one of its tasks.
/// Why     An agent that holds a task back looks again whether the scheduler is suspended; who resumes it takes what is held
///         afterwards. Of the two the later publishes the task. All are seq_cst.
/// Edge hold: push -> take. Carries the tasks.
/// Edge hold: push, resume <-> suspended, take. Hold, then look; resume, then take.
/// Progress  lock-free.
class StealableHold {
 public:
  void suspend() noexcept { suspended_.store(true, sync::edge("hold:resume", sync::seq_cst)); }
  void resume() noexcept { suspended_.store(false, sync::edge("hold:resume", sync::seq_cst)); }
  [[nodiscard]] bool is_suspended() const noexcept {
    return suspended_.load(sync::edge("hold:suspended", sync::seq_cst));
  }
  void push(LoopNode& node) noexcept {
    LoopNode* old = newest_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      node.next = old;
    } while (!newest_.compare_exchange_weak(old, &node, sync::edge("hold:push", sync::seq_cst),
                                            sync::relaxed));  // relaxed: a failure only retries.
  }
  /// All, oldest first.
  [[nodiscard]] LoopNode* take() noexcept {
    return oldest_first(newest_.exchange(nullptr, sync::edge("hold:take", sync::seq_cst)));
  }
  [[nodiscard]] bool empty() const noexcept {
    return newest_.load(sync::edge("hold:take", sync::seq_cst)) == nullptr;
  }

 private:
  sync::atomic<bool> suspended_{false};
  sync::atomic<LoopNode*> newest_{nullptr};
};

/// A source of tasks on one loop, which owns it. Everything but `loop` and the ceiling is the agent's.
///
/// Edge ceiling: make -> find. Carries the scheduler.
struct SchedulerCore {
  explicit SchedulerCore(LoopCore& owner) noexcept : loop(owner) {}
  SchedulerCore(const SchedulerCore&) = delete;
  SchedulerCore& operator=(const SchedulerCore&) = delete;
  ~SchedulerCore();

  /// Any thread: the one whose tasks have no higher priority than this one's, and none above `highest`.
  /// Errors: std::bad_alloc.
  [[nodiscard]] SchedulerCore& with_ceiling(TaskPriority highest);
  /// The priority that its tasks have when they ask for this one (SEC-1).
  [[nodiscard]] TaskPriority capped(TaskPriority asked) const noexcept {
    return std::min(asked, ceiling);
  }
  /// This one, and those made of it.
  template <class Visit>
  void each(Visit&& visit) {
    visit(*this);
    for (auto& place : lower_) {
      if (auto* lower = place.load(sync::edge("ceiling:find", sync::acquire))) visit(*lower);
    }
  }

  LoopCore& loop;
  const TaskPriority ceiling = TaskPriority::user_blocking;
  bool suspended = false;
  TaskFifo held;          ///< came up while suspended; of one queue in enqueue order
  TaskFifo held_delayed;  ///< key: nanoseconds left; equal ones in the order of their posts
  StealableHold stealable;

 private:
  SchedulerCore(SchedulerCore& from, TaskPriority highest) noexcept
      : loop(from.loop), ceiling(highest), base_(&from) {}

  SchedulerCore* base_ = this;                           ///< which owns it
  std::array<sync::atomic<SchedulerCore*>, 2> lower_{};  ///< by ceiling
};

/// Asks the agent to suspend or resume a scheduler (SUS-1): in the inbox, so behind what was posted
/// before and ahead of every pick that begins afterwards.
struct SuspensionMessage : LoopNode {
  SuspensionMessage(SchedulerCore& target, bool is_suspension) noexcept
      : LoopNode(table), scheduler(target), suspends(is_suspension) {}

  SchedulerCore& scheduler;
  const bool suspends;

 private:
  static void take(LoopNode& node, LoopCore& loop) noexcept;
  static void lose(LoopNode& node) noexcept;
  static const LoopNodeOps table;
};

}  // namespace heist
