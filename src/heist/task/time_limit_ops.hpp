// TimeLimitOps: the functions of a signal's time limit that its home calls.
#pragma once

#include <heist/detail/loop_node.hpp>
#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

/// The table of a time limit. Every task of which SchedulerTask::is_time_limit is true has one.
struct TimeLimitOps : LoopNodeOps {
  constexpr TimeLimitOps(void (*expire)(LoopNode&, LoopCore&) noexcept,
                         void (*dropped)(LoopNode&) noexcept,
                         bool (*taken_up)(SchedulerTask&) noexcept) noexcept
      : LoopNodeOps{LoopNodeKind::task, expire, dropped}, take_up(taken_up) {}

  /// Called by the owner when the limit arrives. Returns false when nobody wants the limit any
  /// more; it is gone then.
  bool (*take_up)(SchedulerTask&) noexcept;
};

/// Calls TimeLimitOps::take_up of the limit.   Precondition: the task is a time limit.
[[nodiscard]] inline bool take_up(SchedulerTask& limit) noexcept {
  return static_cast<const TimeLimitOps*>(limit.ops)->take_up(limit);
}

}  // namespace HEIST_NAMESPACE::detail
