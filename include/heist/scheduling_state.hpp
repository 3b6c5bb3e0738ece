// SchedulingState: what a task's continuations inherit (abort source, priority source, scheduler).
#pragma once

#include <heist/priority.hpp>
#include <heist/ref.hpp>

namespace heist {

class SignalCore;
struct SchedulerCore;
void retain(SignalCore& core) noexcept;
void release(SignalCore& core) noexcept;

/// The current scheduling state of an event loop; borrows its signals from the running task.
///
/// Spec: [sched#scheduling-state]. A null scheduler means "no state" (outside any task).
struct SchedulingState {
  SchedulerCore* scheduler = nullptr;
  SignalCore* abort_source = nullptr;
  /// Null: the priority is fixed.
  SignalCore* priority_source = nullptr;
  TaskPriority priority = TaskPriority::user_visible;
};

/// A scheduling state that owns its signals: captured where a continuation is created (contract
/// YLD-3).
class CapturedState {
 public:
  CapturedState() noexcept = default;
  explicit CapturedState(const SchedulingState& state) noexcept
      : state_(state),
        abort_source_(Ref<SignalCore>::share(state.abort_source)),
        priority_source_(Ref<SignalCore>::share(state.priority_source)) {}

  [[nodiscard]] const SchedulingState& state() const noexcept { return state_; }

 private:
  SchedulingState state_;
  Ref<SignalCore> abort_source_;
  Ref<SignalCore> priority_source_;
};

}  // namespace heist
