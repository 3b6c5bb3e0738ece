// Writes the single steps of a random scenario, with their members.
#include <algorithm>

#include "support/reference/scenario_writer.hpp"

namespace heist::reference {

namespace {

constexpr std::size_t deepest_body = 5;

std::string id_of(std::size_t number) {
  const std::string letter(1, static_cast<char>('A' + number % 26));
  return number < 26 ? letter : letter + std::to_string(number / 26);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

nlohmann::json ScenarioWriter::post(Scope& scope) {
  Json step{{"op", "post"}, {"id", id_of(posts_++)}};
  add_options(step, scope);
  add_body(step, scope, 65);
  add_flag(step, "async", 12);
  add_result(step, scope);
  scope.tasks.push_back(step["id"]);
  return step;
}

void ScenarioWriter::add_options(Json& post, const Scope& scope) {
  if (random_.chance(35)) post["priority"] = priority();
  if (!scope.signals.empty() && random_.chance(65))
    post["signal"] = random_.early_of(scope.signals);
  if (has_delays_ && random_.chance(25)) post["delay"] = milliseconds();
  if (!post.contains("delay") && random_.chance(3)) post["delay"] = 0U;
}

void ScenarioWriter::add_result(Json& post, const Scope& scope) {
  if (random_.chance(10)) {
    post["throws"] = "err" + post["id"].get<std::string>();
  } else if (!scope.tasks.empty() && random_.chance(8)) {
    post["returns"] = {{"task", random_.one_of(scope.tasks)}};
  } else if (random_.chance(40)) {
    post["returns"] = value();
  }
}

nlohmann::json ScenarioWriter::listen(const Scope& scope) {
  const bool is_abort = scope.task_signals.empty() || random_.chance(55);
  Json step{{"op", "listen"},
            {"event", is_abort ? "abort" : "prioritychange"},
            {"signal", random_.early_of(is_abort ? scope.signals : scope.task_signals)}};
  if (random_.chance(70)) step["label"] = label('l');
  add_body(step, scope, 50);
  // A body that posts must not run twice. The event of an abort comes only once anyway.
  add_flag(step, "once", !is_abort && step.contains("body") ? 80 : 20);
  return step;
}

nlohmann::json ScenarioWriter::call(const Scope& scope) {
  Json step{{"op", "call"}, {"label", label('c')}, {"body", body(scope, 4)}};
  add_flag(step, "wait", 60);
  if (step.contains("wait")) add_flag(step, "catch", 60);
  return step;
}

nlohmann::json ScenarioWriter::labelled(const std::string& op, const Scope& scope) {
  Json step{{"op", op}, {"label", label(op.front())}};
  if (op == "timer") step["ms"] = milliseconds();
  add_body(step, scope, 70);
  return step;
}

nlohmann::json ScenarioWriter::on_task(const std::string& op, const Scope& scope) {
  Json step{{"op", op}, {"id", random_.one_of(scope.tasks)}};
  if (op == "await") {
    add_flag(step, "rethrow", 25);
    return step;
  }
  step["label"] = label('h');
  add_body(step, scope, 60);
  return step;
}

nlohmann::json ScenarioWriter::on_signal(const std::string& op, const Scope& scope) {
  const Names& names = op == "setPriority" ? scope.task_controllers
                       : op == "abort"     ? scope.controllers
                                           : scope.signals;
  Json step{{"op", op}, {"signal", random_.early_of(names)}};
  // Often the step concerns the signal of the task in which it runs.
  if (contains(names, scope.own_signal) && random_.chance(60)) step["signal"] = scope.own_signal;
  if (op == "setPriority") step["priority"] = priority();
  if (op == "abort" && random_.chance(60)) step["reason"] = reason();
  if (op == "throwIfAborted") add_flag(step, "catch", 60);
  return step;
}

void ScenarioWriter::add_body(Json& step, const Scope& scope, std::size_t percent) {
  if (scope.depth >= deepest_body || !random_.chance(percent)) return;
  Scope inner = scope;
  // A reaction of a task to its own end is worth having. But a body that awaits its own task never
  // ends, so few bodies know their task.
  if (step["op"] == "post" && random_.chance(15)) inner.tasks.push_back(step["id"]);
  if (step["op"] == "post") {
    const std::string signal = step.value("signal", "");
    inner.own_signal = contains(scope.controllers, signal) ? signal : "";
  }
  step["body"] = body(inner, 5);
}

void ScenarioWriter::add_flag(Json& step, const char* name, std::size_t percent) {
  if (random_.chance(percent)) step[name] = true;
}

}  // namespace heist::reference
