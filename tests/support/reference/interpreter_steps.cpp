// Runs a scenario (FORMAT.md 8), and those of its steps that wait for nothing and concern no signal
// (FORMAT.md 6).
#include <algorithm>

#include "support/reference/interpreter.hpp"

namespace heist::reference {

namespace {

/// No useful scenario runs as many steps. Listeners that add ever more listeners end here.
constexpr std::size_t step_limit = 5000;

}  // namespace

const Json& body_of(const Json& step) {
  static const Json nothing = Json::array();
  return step.contains("body") ? step["body"] : nothing;
}

bool has_flag(const Json& step, const char* name) { return step.value(name, false); }

void Interpreter::run(const Json& scenario) {
  loop_.queue_plain_task([&] {
    loop_.agent.invoke([&] {
      for (const Json& definition : scenario.at("signals")) create(definition);
      run_body(scenario.at("main"), "main");
    });
  });
  loop_.run();
}

std::string Interpreter::objection() const {
  if (loop_.was_open) return "a plain task against a scheduler task";
  if (was_too_close_) return "a delay that ends with a spin";
  if (!loop_.promises.all_settled()) return "a promise that never settles";
  if (!std::ranges::all_of(frames_, &Frame::has_ended)) return "a body that never ends";
  return {};
}

Interpreter::Error Interpreter::run_step(const Json& step) {
  using Run = void (Interpreter::*)(const Json&);
  static const std::map<std::string, Run> runs{
      {"post", &Interpreter::post},           {"then", &Interpreter::then},
      {"microtask", &Interpreter::microtask}, {"timer", &Interpreter::timer},
      {"spin", &Interpreter::spin},           {"create", &Interpreter::create},
      {"abort", &Interpreter::abort},         {"setPriority", &Interpreter::set_priority},
      {"listen", &Interpreter::listen},       {"read", &Interpreter::read}};
  if (++steps_run_ > step_limit) throw Malformed("too many steps");
  const auto op = step["op"].get<std::string>();
  if (op == "throwIfAborted") return throw_if_aborted(step);
  if (op == "call") {
    static_cast<void>(start_call(step));
  } else if (op == "log") {
    record("log", step.at("text"));
  } else {
    const auto found = runs.find(op);
    if (found == runs.end()) throw Malformed("no step: " + op);
    (this->*found->second)(step);
  }
  return {};
}

void Interpreter::post(const Json& step) {
  PostTaskOptions options;
  if (step.contains("signal")) options.signal = named(step["signal"]).signal;
  if (step.contains("priority")) options.priority = priority_named(step["priority"]);
  options.delay = step.value("delay", 0);
  Promise& promise = loop_.scheduler.post_task(options, [this, &step] { return run_post(step); });
  loop_.promises.attach(promise, [this, &step](const Outcome& outcome) {
    record(outcome.is_rejected ? "rejected" : "resolved", step["id"], outcome.value);
  });
  if (!tasks_.emplace(step.at("id"), &promise).second) throw Malformed("posted twice");
}

void Interpreter::then(const Json& step) {
  loop_.promises.attach(task(step.at("id")), [this, &step](const Outcome& outcome) {
    record("then", step.at("label"), outcome.is_rejected ? "rejected" : "resolved", outcome.value);
    run_body(body_of(step), step["label"]);
  });
}

void Interpreter::microtask(const Json& step) {
  loop_.agent.queue_microtask(loop_.agent.current_state(), [this, &step] {
    record("microtask", step.at("label"));
    run_body(body_of(step), step["label"]);
  });
}

void Interpreter::timer(const Json& step) {
  const auto callback = [this, &step] {
    record("timer", step.at("label"));
    run_body(body_of(step), step["label"]);
  };
  loop_.time.run_after(step.at("ms"), [this, callback] {
    loop_.queue_plain_task([this, callback] { loop_.agent.invoke(callback); });
  });
}

void Interpreter::spin(const Json& step) {
  if (!loop_.time.spin(step.at("ms"))) was_too_close_ = true;
}

Promise& Interpreter::task(const Json& id) {
  const auto found = tasks_.find(id.get<std::string>());
  if (found == tasks_.end()) throw Malformed("no task yet: " + id.dump());
  return *found->second;
}

}  // namespace heist::reference
