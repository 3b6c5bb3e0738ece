// SchedulingState: what the continuations of a task inherit (abort source, priority source,
// scheduler).
#pragma once

#include <cstdint>
#include <heist/detail/forward.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The current scheduling state of an event loop; borrows its signals from the running task.
///
/// Spec: [sched#scheduling-state]. A null scheduler means "no state" (outside any task).
struct SchedulingState {
  SchedulerCore* scheduler = nullptr;
  TaskPriority priority = TaskPriority::user_visible;
  /// Whether it is that of a task of a TaskScope, whose signal is the abort source then.
  bool is_of_scope = false;
  std::uint32_t cooperative_task = 0;  ///< number of the running one on its loop; zero: none
  // These two members are read together right after a state was stored. They lie in one half of it,
  // so that the processor need not wait for the store.
  SignalCore* abort_source = nullptr;
  /// The signal whose priority continuations follow; null when the priority is fixed.
  SignalCore* priority_source = nullptr;
};

/// A scheduling state that owns its signals: one reference to each, and so only one if both are the
/// same. It is captured where a continuation is created (contract YLD-3).
class CapturedState {
 public:
  CapturedState() noexcept = default;
  explicit CapturedState(const SchedulingState& state) noexcept : state_(state) {
    if (state_.abort_source != nullptr) retain(*state_.abort_source);
    if (has_another_signal()) retain(*state_.priority_source);
  }
  /// Takes over references to the state's signals that the caller owns.
  [[nodiscard]] static CapturedState adopt(const SchedulingState& state) noexcept {
    CapturedState captured;
    captured.state_ = state;
    return captured;
  }
  CapturedState(CapturedState&& other) noexcept : state_(std::exchange(other.state_, {})) {}
  CapturedState& operator=(CapturedState&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~CapturedState() {
    if (has_another_signal()) release(*state_.priority_source);
    if (state_.abort_source != nullptr) release(*state_.abort_source);
  }

  [[nodiscard]] const SchedulingState& state() const noexcept { return state_; }

 private:
  [[nodiscard]] bool has_another_signal() const noexcept {
    return state_.priority_source != nullptr && state_.priority_source != state_.abort_source;
  }

  SchedulingState state_;
};

}  // namespace HEIST_NAMESPACE::detail
