// The steps that neither wait nor post, but for listen (FORMAT.md 6).
#include <map>

#include "scenarios/replay/broken_scenario.hpp"
#include "scenarios/replay/interpreter.hpp"
#include "scenarios/replay/values.hpp"

namespace heist::test {

void Interpreter::run_step(const Json& step) {
  using Run = void (Interpreter::*)(const Json&);
  static const std::map<std::string, Run> runs{{"post", &Interpreter::post},
                                               {"abort", &Interpreter::abort},
                                               {"setPriority", &Interpreter::set_priority},
                                               {"then", &Interpreter::then},
                                               {"call", &Interpreter::call},
                                               {"microtask", &Interpreter::microtask},
                                               {"timer", &Interpreter::timer},
                                               {"listen", &Interpreter::listen},
                                               {"create", &Interpreter::create},
                                               {"read", &Interpreter::read},
                                               {"throwIfAborted", &Interpreter::throw_if_aborted},
                                               {"log", &Interpreter::log},
                                               {"spin", &Interpreter::spin}};
  try {
    (this->*runs.at(text_of(step, "op")))(step);
  } catch (const BrokenScenario& error) {
    broken_ = error.what();
    throw;
  }
}

NamedSignal& Interpreter::signal_of(const Json& step) {
  return signals_.at(text_of(step, "signal"));
}

void Interpreter::abort(const Json& step) {
  AbortController& controller = signal_of(step).controller.value();
  if (!step.contains("reason")) return controller.abort();
  controller.abort(PlainReason{step["reason"]});
}

void Interpreter::set_priority(const Json& step) {
  try {
    signal_of(step).task_controller.value().set_priority(priority_of(step));
  } catch (const NotAllowedError&) {
    record("threw", "setPriority", "NotAllowedError");
  }
}

void Interpreter::call(const Json& step) {
  static_cast<void>(run_asynchronous({&body_of(step), label_of(step)}));
}

/// A callback that says that it runs, and then runs the step's body.
auto Interpreter::labelled(const char* event, const Json& step) {
  return [this, event, &step] {
    record(event, step["label"]);
    run_body(body_of(step), label_of(step));
  };
}

void Interpreter::microtask(const Json& step) { queue_microtask(labelled("microtask", step)); }

void Interpreter::timer(const Json& step) {
  static_cast<void>(set_timeout(labelled("timer", step), time_of(step, "ms")));
}

void Interpreter::create(const Json& step) { signals_.create(step); }

void Interpreter::read(const Json& step) {
  const NamedSignal& source = signal_of(step);
  const auto priority =
      source.task_signal ? Json(to_string(source.task_signal->priority())) : Json();
  record("read", step["signal"], priority, source.signal.aborted(), shown(source.signal.reason()));
}

void Interpreter::throw_if_aborted(const Json& step) {
  const AbortSignal& signal = signal_of(step).signal;
  try {
    signal.throw_if_aborted();
  } catch (...) {
    if (!has_flag(step, "catch")) throw;
    record("threw", "throwIfAborted", shown(Reason::of_current_exception()));
  }
}

void Interpreter::log(const Json& step) { record("log", step["text"]); }

void Interpreter::spin(const Json& step) { host_->spend(time_of(step, "ms")); }

}  // namespace heist::test
