// Runs the steps that create, change and read signals (FORMAT.md 4 and 6).
#include "support/reference/interpreter.hpp"

namespace heist::reference {

Json reason_of(const Json& object) { return object.value("reason", Json("AbortError")); }

void Interpreter::create(const Json& definition) {
  const auto name = definition.at("name").get<std::string>();
  if (signals_.contains(name)) throw Malformed("created twice: " + name);
  signals_[name] = {definition.at("kind"), &signal_of(definition)};
}

Signal& Interpreter::signal_of(const Json& definition) {
  const Json& kind = definition["kind"];
  if (kind == "task") {
    return loop_.signals.create_task_signal(
        priority_named(definition.value("priority", "user-visible")));
  }
  if (kind == "abort") return loop_.signals.create();
  if (kind == "aborted") {
    Signal& signal = loop_.signals.create();
    signal.abort_reason = reason_of(definition);
    return signal;
  }
  if (kind == "timeout") return timeout(definition);
  if (kind == "abort-any") return loop_.signals.any(sources_of(definition));
  if (kind == "task-any") return task_any(definition);
  throw Malformed("no kind of signal: " + kind.dump());
}

std::vector<Signal*> Interpreter::sources_of(const Json& definition) {
  std::vector<Signal*> sources;
  for (const Json& name : definition.at("of")) sources.push_back(named(name).signal);
  return sources;
}

Signal& Interpreter::task_any(const Json& definition) {
  const auto sources = sources_of(definition);
  const Json priority = definition.value("priority", Json("user-visible"));
  if (!priority.is_object()) return loop_.signals.any(sources, priority_named(priority));
  return loop_.signals.any(sources, task_signal(priority.at("signal")));
}

Signal& Interpreter::timeout(const Json& definition) {
  Signal& signal = loop_.signals.create();
  loop_.time.run_after(definition.at("ms"), [this, &signal] {
    loop_.timeouts_of_signals.emplace_back(
        [this, &signal] { loop_.signals.signal_abort(signal, "TimeoutError"); });
  });
  return signal;
}

void Interpreter::abort(const Json& step) {
  const NamedSignal& found = named(step.at("signal"));
  if (found.kind != "task" && found.kind != "abort") throw Malformed("no controller");
  loop_.signals.signal_abort(*found.signal, reason_of(step));
}

void Interpreter::set_priority(const Json& step) {
  const NamedSignal& found = named(step.at("signal"));
  if (found.kind != "task") throw Malformed("no task controller");
  const Priority priority = priority_named(step.at("priority"));
  if (loop_.signals.signal_priority_change(*found.signal, priority)) return;
  record("threw", "setPriority", "NotAllowedError");
}

void Interpreter::listen(const Json& step) {
  auto listener = std::make_shared<Signal::Listener>();
  listener->is_once = has_flag(step, "once");
  if (step.at("event") == "abort") {
    Signal& signal = *named(step.at("signal")).signal;
    listener->callback = [this, &step, &signal](Priority /*none*/) {
      hear(step, Json::array({"abort", step["signal"], *signal.abort_reason}));
    };
    signal.abort_listeners.push_back(listener);
    return;
  }
  Signal& signal = task_signal(step.at("signal"));
  listener->callback = [this, &step, &signal](Priority previous) {
    hear(step, Json::array({"prioritychange", step["signal"], name_of(previous),
                            name_of(signal.priority)}));
  };
  signal.priority_listeners.push_back(listener);
}

void Interpreter::hear(const Json& step, Json event) {
  if (step.contains("label")) event.push_back(step["label"]);
  trace_.push_back(std::move(event));
  const auto name = step["signal"].get<std::string>() + ":" + step["event"].get<std::string>();
  run_body(body_of(step), step.value("label", name));
}

void Interpreter::read(const Json& step) {
  const Signal& signal = *named(step.at("signal")).signal;
  record("read", step["signal"], signal.is_task_signal ? Json(name_of(signal.priority)) : Json(),
         signal.aborted(), signal.abort_reason.value_or("undefined"));
}

Interpreter::Error Interpreter::throw_if_aborted(const Json& step) {
  const Signal& signal = *named(step.at("signal")).signal;
  if (!signal.aborted() || !has_flag(step, "catch")) return signal.abort_reason;
  record("threw", "throwIfAborted", *signal.abort_reason);
  return {};
}

Interpreter::NamedSignal& Interpreter::named(const Json& name) {
  const auto found = signals_.find(name.get<std::string>());
  if (found == signals_.end()) throw Malformed("no signal yet: " + name.dump());
  return found->second;
}

Signal& Interpreter::task_signal(const Json& name) {
  Signal& signal = *named(name).signal;
  if (!signal.is_task_signal) throw Malformed("no task signal: " + name.dump());
  return signal;
}

}  // namespace heist::reference
