// The step listen (FORMAT.md 6).
#include "scenarios/replay/interpreter.hpp"
#include "scenarios/replay/values.hpp"

namespace heist::test {

void Interpreter::listen(const Json& step) {
  if (step["event"] == "abort") return listen_to_abort(step);
  listen_to_priority_change(step);
}

void Interpreter::listen_to_abort(const Json& step) {
  const AbortSignal signal = signal_of(step).signal;
  const auto listener = [this, &step](const AbortSignal& aborted) {
    heard(step, {"abort", step["signal"], shown(aborted.reason())});
  };
  subscriptions_.push_back(signal.on_abort(listener, {.once = has_flag(step, "once")}));
}

void Interpreter::listen_to_priority_change(const Json& step) {
  const auto signal = signal_of(step).task_signal;
  if (!signal) return;  // an event that an AbortSignal never has
  const auto listener = [this, &step](const PriorityChangeEvent& event) {
    heard(step, {"prioritychange", step["signal"], to_string(event.previous),
                 to_string(event.signal.priority())});
  };
  subscriptions_.push_back(signal->on_priority_change(listener, {.once = has_flag(step, "once")}));
}

void Interpreter::heard(const Json& step, Json event) {
  if (step.contains("label")) event.push_back(step["label"]);
  trace_.push_back(std::move(event));
  run_body(body_of(step), label_of(step));
}

}  // namespace heist::test
