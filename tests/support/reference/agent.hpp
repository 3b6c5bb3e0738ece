// The part of the reference model that runs callbacks and microtasks (FORMAT.md 3.2, 3.3, 3.5).
// Nothing of the reference model uses the library: it is a second opinion.
#pragma once

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>

namespace heist::reference {

using Json = nlohmann::json;

struct Signal;

/// A scheduling state (spec, "Definitions"): both may be null in a state that is none.
struct SchedulingState {
  Signal* abort_source = nullptr;
  Signal* priority_source = nullptr;

  bool operator==(const SchedulingState&) const = default;
};

/// Microtasks, their checkpoints and the current continuation state.
class Agent {
 public:
  using Job = std::function<void()>;

  [[nodiscard]] const SchedulingState& current_state() const { return current_state_; }
  void set_current_state(const SchedulingState& state) { current_state_ = state; }

  /// Queues a microtask that will run with that state (3.5).
  void queue_microtask(const SchedulingState& captured, Job job);
  /// Runs jobs until none is left; does nothing while one is running (3.2).
  void perform_microtask_checkpoint();
  /// Invokes a callback; a checkpoint follows at once if it is outermost (3.3).
  void invoke(const Job& callback);

 private:
  struct Microtask {
    SchedulingState state;
    Job job;
  };

  SchedulingState current_state_;
  std::deque<Microtask> microtasks_;
  bool in_checkpoint_ = false;
  int callbacks_ = 0;  ///< that are running
};

}  // namespace heist::reference
