// SchedulerCore: what a Scheduler handle names, and what it keeps while it is suspended.
#pragma once

#include <heist/loop_node.hpp>

#include "task_queues.hpp"

namespace heist {

class LoopCore;

/// A source of tasks on one loop, which owns it. Everything but `loop` is the agent's.
struct SchedulerCore {
  explicit SchedulerCore(LoopCore& owner) noexcept : loop(owner) {}
  SchedulerCore(const SchedulerCore&) = delete;
  SchedulerCore& operator=(const SchedulerCore&) = delete;

  LoopCore& loop;
  bool suspended = false;
  TaskFifo held;          ///< came up while suspended; of one queue in enqueue order
  TaskFifo held_delayed;  ///< key: nanoseconds left; equal ones in the order of their posts
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
