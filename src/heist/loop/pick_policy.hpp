// PickPolicy: picks of a loop with a continuation cap (contract YLD-6), a maximum wait (contract
// WAIT), or both.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/event_loop.hpp>
#include <optional>

#include "../task/loop_clock.hpp"
#include "../task/task_queues.hpp"
#include "continuation_run.hpp"
#include "starvation_guard.hpp"

namespace HEIST_NAMESPACE::detail {

/// What an agent goes by beside levels, and what it remembers of its picks for that.
///
/// Thread: the agent.
class PickPolicy {
 public:
  /// `time` is the loop's clock.
  PickPolicy(const EventLoopOptions& options, const LoopTime& time) noexcept
      : time_(&time),
        cap_(options.continuation_cap),
        is_wanted_(cap_ != cap_.zero() || options.max_wait != MaxWait{}) {
    if (options.max_wait != MaxWait{}) guard_.emplace(options.max_wait);
  }

  /// Whether the options ask for a cap or a maximum wait. If not, picks go by levels only.
  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }
  /// From now on this goes by the cluster's clock, by which stealable tasks are stamped.
  void follow(const LoopTime& cluster) noexcept { time_ = &cluster; }
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept { return time_->now(); }

  /// Finds the task of this loop whose maximum wait ended first.
  [[nodiscard]] LatePick find_late(const TaskQueues& queues, std::chrono::nanoseconds now,
                                   std::uint64_t next_order) noexcept {
    return guard_ ? guard_->find(queues, now, next_order) : LatePick{};
  }
  /// When to look for late tasks of the cluster. Null without a maximum wait.
  [[nodiscard]] LateLooks* looks() noexcept { return guard_ ? &guard_->looks() : nullptr; }
  /// Whether continuations have gone before the tasks of their priority for as long as the cap
  /// allows. Then one of those tasks may pass (YLD-6).
  [[nodiscard]] bool has_pass(std::chrono::nanoseconds now) const noexcept {
    return cap_ != cap_.zero() && run_.has_lasted(cap_, now);
  }
  [[nodiscard]] ContinuationRun& run() noexcept { return run_; }

  /// Takes the next of the loop's own tasks. A late one comes first, then one that may pass.
  /// Precondition: there is a task.
  [[nodiscard]] SchedulerTask* pop(TaskQueues& queues, std::uint64_t next_order) noexcept;

 private:
  const LoopTime* time_;
  const std::chrono::nanoseconds cap_;
  const bool is_wanted_;
  ContinuationRun run_;
  std::optional<StarvationGuard> guard_;
};

}  // namespace HEIST_NAMESPACE::detail
