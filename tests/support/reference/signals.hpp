// Signals: the abort signals and task signals of the reference model. They follow the DOM standard
// and the specification, as tests/conformance/posttask/FORMAT.md 4 restates them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/reference/agent.hpp"

namespace heist::reference {

enum class Priority { background, user_visible, user_blocking };

[[nodiscard]] Priority priority_named(const std::string& name);
[[nodiscard]] std::string name_of(Priority priority);

struct Signal {
  /// A listener of aborts ignores `previous`.
  using Heard = std::function<void(Priority previous)>;
  struct Listener {
    bool is_once = false;
    bool is_removed = false;
    Heard callback;
  };
  using Listeners = std::vector<std::shared_ptr<Listener>>;
  struct AbortAlgorithm {
    const void* owner;
    std::function<void()> run;
  };

  std::optional<Json> abort_reason;  ///< present when the signal is aborted, whatever the reason
  bool is_dependent = false;         ///< made by `any`
  std::vector<Signal*> source_signals;
  std::vector<Signal*> dependent_signals;  ///< in order of creation
  std::vector<AbortAlgorithm> abort_algorithms;
  Listeners abort_listeners;

  bool is_task_signal = false;
  Priority priority = Priority::user_visible;
  bool is_priority_dependent = false;  ///< made by TaskSignal.any
  Signal* priority_source = nullptr;
  std::vector<Signal*> priority_dependents;
  bool is_priority_changing = false;
  std::vector<std::function<void()>> priority_change_algorithms;
  Listeners priority_listeners;

  [[nodiscard]] bool aborted() const { return abort_reason.has_value(); }
  /// Spec: a dependent signal without a source signal has a fixed priority. A controller's own
  /// signal never has one.
  [[nodiscard]] bool has_fixed_priority() const {
    return is_priority_dependent && priority_source == nullptr;
  }
};

class Signals {
 public:
  explicit Signals(Agent& agent) : agent_(agent) {}

  [[nodiscard]] Signal& create() { return all_.emplace_back(); }
  [[nodiscard]] Signal& create_task_signal(Priority priority);
  /// Spec: create a fixed priority unabortable task signal.
  [[nodiscard]] Signal& create_fixed_priority_unabortable(Priority priority);
  /// DOM: create a dependent abort signal.
  [[nodiscard]] Signal& any(const std::vector<Signal*>& signals);
  /// Spec: create a dependent task signal. Its priority is fixed, or follows that of a task signal.
  [[nodiscard]] Signal& any(const std::vector<Signal*>& signals, Priority priority);
  [[nodiscard]] Signal& any(const std::vector<Signal*>& signals, Signal& priority_source);

  /// DOM: signal abort.
  void signal_abort(Signal& signal, const Json& reason);
  /// Spec: signal priority change. Returns false where the specification throws NotAllowedError.
  [[nodiscard]] bool signal_priority_change(Signal& signal, Priority priority);

 private:
  void run_abort_steps(Signal& signal);
  void fire(Signal::Listeners& listeners, Priority previous);

  Agent& agent_;
  std::deque<Signal> all_;
};

}  // namespace heist::reference
