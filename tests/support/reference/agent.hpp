// Agent: runs the callbacks and microtasks of the reference model, as sections 3.2, 3.3 and 3.5 of
// tests/conformance/posttask/FORMAT.md say. The reference model is a second opinion, so no part of
// it uses the library.
#pragma once

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>

namespace heist::reference {

using Json = nlohmann::json;

struct Signal;

/// A scheduling state (spec, "Definitions"). Both members are null when there is none.
struct SchedulingState {
  Signal* abort_source = nullptr;
  Signal* priority_source = nullptr;

  bool operator==(const SchedulingState&) const = default;
};

/// Keeps the queue of microtasks and the current continuation state.
class Agent {
 public:
  using Job = std::function<void()>;

  [[nodiscard]] const SchedulingState& current_state() const { return current_state_; }
  void set_current_state(const SchedulingState& state) { current_state_ = state; }

  /// Queues a microtask, which will run with the state `captured` (3.5).
  void queue_microtask(const SchedulingState& captured, Job job);
  /// Runs microtasks until none is left. Does nothing if it is called by one of them (3.2).
  void perform_microtask_checkpoint();
  /// Invokes a callback. If it is the outermost one, a checkpoint follows at once (3.3).
  void invoke(const Job& callback);

 private:
  struct Microtask {
    SchedulingState state;
    Job job;
  };

  SchedulingState current_state_;
  std::deque<Microtask> microtasks_;
  bool in_checkpoint_ = false;
  int callbacks_ = 0;  ///< how many callbacks are running
};

}  // namespace heist::reference
