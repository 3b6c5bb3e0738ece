// Chooses the steps and the signals of a random scenario.
#include "support/reference/scenario_writer.hpp"

#include <algorithm>

#include "support/reference/generator.hpp"

namespace heist::reference {

nlohmann::json generate(std::uint64_t seed) { return ScenarioWriter(seed).write(); }

ScenarioWriter::ScenarioWriter(std::uint64_t seed)
    : random_(seed),
      seed_(seed),
      has_delays_(random_.chance(40)),
      longest_delay_(random_.chance(50) ? 5 : 60),
      steps_left_(random_.chance(10) ? random_.between(40, 120) : random_.between(4, 40)) {
  choose_weights();
}

/// Each scenario goes without some kinds of steps and signals and has many of others, so that it
/// gets deeper into the few that it has.
void ScenarioWriter::choose_weights() {
  const Weights steps{{"abort", 3},  {"setPriority", 4}, {"yield", 6},  {"await", 3},
                      {"then", 2},   {"call", 2},        {"listen", 6}, {"microtask", 3},
                      {"create", 2}, {"read", 2},        {"log", 1},    {"throwIfAborted", 1}};
  const std::vector<std::size_t> factors{0, 1, 1, 3};
  for (const auto& [op, weight] : steps) step_weights_[op] = weight * random_.one_of(factors);
  step_weights_["post"] = 12;
  if (has_delays_) step_weights_["timer"] = random_.below(3);
  if (has_delays_) step_weights_["spin"] = random_.below(3);
  for (const auto* kind : {"abort", "abort-any", "task-any"}) {
    signal_weights_[kind] = 2 * random_.one_of(factors);
  }
  signal_weights_["aborted"] = random_.chance(15) ? 6 : random_.below(2);
  signal_weights_["task"] = 5;
  if (has_delays_) signal_weights_["timeout"] = random_.below(3);
}

nlohmann::json ScenarioWriter::write() {
  Scope scope;
  Json signals = Json::array();
  for (std::size_t left = random_.chance(85) ? random_.below(7) : 10; left > 0; --left)
    signals.push_back(signal(scope));
  Json main = listeners(scope);
  for (Json& step : body(scope, 10)) main.push_back(std::move(step));
  const auto seed = std::to_string(seed_);
  return {{"id", "random/" + seed},          {"theme", "random"},
          {"title", "random, seed " + seed}, {"origin", "random"},
          {"signals", std::move(signals)},   {"main", std::move(main)},
          {"trace", Json::array()}};
}

/// Writes some listeners for the begin of main, where they will hear every event.
nlohmann::json ScenarioWriter::listeners(const Scope& scope) {
  Json steps = Json::array();
  for (std::size_t left = scope.signals.size(); left > 0; --left) {
    if (random_.chance(30)) steps.push_back(listen(scope));
  }
  return steps;
}

nlohmann::json ScenarioWriter::body(Scope scope, std::size_t most) {
  ++scope.depth;
  Json steps = Json::array();
  for (std::size_t left = random_.between(1, most); left > 0 && steps_left_ > 0; --left) {
    steps.push_back(step(scope));
  }
  return steps;
}

nlohmann::json ScenarioWriter::step(Scope& scope) {
  --steps_left_;
  std::string op = next_op(scope);
  while (!fits(op, scope) || comes_too_soon(op, scope)) op = next_op(scope);
  if (op == "post") return post(scope);
  if (op == "await" || op == "then") return on_task(op, scope);
  if (op == "call") return call(scope);
  if (op == "listen") return listen(scope);
  if (op == "microtask" || op == "timer") return labelled(op, scope);
  if (op == "log") return {{"op", op}, {"text", label('x')}};
  if (op == "spin") return {{"op", op}, {"ms", 60 * random_.between(1, 3)}};
  if (op == "yield") {
    Json step{{"op", op}};
    add_flag(step, "catch", 60);
    return step;
  }
  if (op == "create") {
    Json step = signal(scope);
    step["op"] = op;
    return step;
  }
  return on_signal(op, scope);
}

/// Chooses the next step. If the task's signal has a controller, the step is often one for which
/// that signal matters.
std::string ScenarioWriter::next_op(const Scope& scope) {
  const std::string op = random_.one_of(Names{"yield", "abort", "setPriority"});
  const bool is_wanted = !scope.own_signal.empty() && step_weights_[op] > 0;
  return is_wanted && random_.chance(35) ? op : random_.one_of(step_weights_);
}

bool ScenarioWriter::fits(const std::string& op, const Scope& scope) const {
  if (op == "abort") return !scope.controllers.empty();
  if (op == "setPriority") return !scope.task_controllers.empty();
  if (op == "await" || op == "then") return !scope.tasks.empty();
  if (op == "listen" || op == "read" || op == "throwIfAborted") return !scope.signals.empty();
  return true;
}

/// An abort in main leaves little of a scenario to run, so three in four are refused.
bool ScenarioWriter::comes_too_soon(const std::string& op, const Scope& scope) {
  return op == "abort" && scope.depth == 1 && random_.chance(75);
}

nlohmann::json ScenarioWriter::signal(Scope& scope) {
  const std::string kind = random_.one_of(signal_weights_);
  Json definition{{"kind", kind}, {"name", "S" + std::to_string(++signals_)}};
  if (kind == "task" && random_.chance(60)) definition["priority"] = priority();
  if (kind == "aborted" && random_.chance(60)) definition["reason"] = reason();
  if (kind == "timeout") definition["ms"] = milliseconds();
  if (kind == "abort-any" || kind == "task-any") definition["of"] = sources(scope);
  if (kind == "task-any" && random_.chance(80)) definition["priority"] = followed_priority(scope);
  const std::string name = definition["name"];
  scope.signals.push_back(name);
  if (kind == "task" || kind == "task-any") scope.task_signals.push_back(name);
  if (kind == "task") scope.task_controllers.push_back(name);
  if (kind == "task" || kind == "abort") scope.controllers.push_back(name);
  return definition;
}

nlohmann::json ScenarioWriter::sources(const Scope& scope) {
  Json names = Json::array();
  if (scope.signals.empty()) return names;
  for (std::size_t left = random_.below(4); left > 0; --left) {
    names.push_back(random_.early_of(scope.signals));
  }
  return names;
}

nlohmann::json ScenarioWriter::followed_priority(const Scope& scope) {
  if (scope.task_signals.empty() || random_.chance(30)) return priority();
  return {{"signal", random_.early_of(scope.task_signals)}};
}

nlohmann::json ScenarioWriter::value() {
  return random_.one_of(std::vector<Json>{0, 1, 2, -7, true, false, nullptr, "", "ok", "v"});
}

nlohmann::json ScenarioWriter::reason() {
  return random_.one_of(std::vector<Json>{0, 1, false, nullptr, "", "stop", "gone", "late"});
}

std::string ScenarioWriter::priority() {
  return random_.one_of(Names{"background", "user-visible", "user-blocking"});
}

/// Times are multiples of 60 ms, so that they are far enough apart (FORMAT.md 3.6).
std::size_t ScenarioWriter::milliseconds() { return 60 * random_.between(1, longest_delay_); }

}  // namespace heist::reference
