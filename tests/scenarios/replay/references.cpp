#include "scenarios/replay/references.hpp"

#include <stdexcept>

#include "scenarios/replay/steps.hpp"

namespace heist::test {

namespace {

const std::set<std::string> any_kind;
const std::set<std::string> aborted_by_steps{"task", "abort"};
const std::set<std::string> set_by_steps{"task"};
const std::set<std::string> with_priority{"task", "task-any"};

}  // namespace

References::References(const Json& scenario) {
  for (const Json& definition : scenario["signals"]) add_signal(definition);
  for_each_step(scenario["main"], "main", [this](const Json& step, const std::string&) {
    if (step["op"] == "create") add_signal(step);
    if (step["op"] == "post") tasks_.insert(text_of(step, "id"));
  });
  for (const Json& definition : scenario["signals"]) check_definition(definition);
}

void References::check_step(const Json& step) const {
  const auto op = text_of(step, "op");
  if (op == "create") return check_definition(step);
  if (op == "await" || op == "then") return check_task(text_of(step, "id"));
  if (op == "post" && returns_task(step)) check_task(text_of(step["returns"], "task"));
  if (!step.contains("signal")) return;
  const auto& kinds = op == "abort"         ? aborted_by_steps
                      : op == "setPriority" ? set_by_steps
                                            : any_kind;
  check_signal(text_of(step, "signal"), kinds);
}

void References::add_signal(const Json& definition) {
  const auto name = text_of(definition, "name");
  if (kinds_.emplace(name, text_of(definition, "kind")).second) return;
  throw std::invalid_argument("two signals are called " + name);
}

void References::check_definition(const Json& definition) const {
  if (definition.contains("of")) {
    for (const Json& name : definition["of"]) check_signal(name.get<std::string>(), any_kind);
  }
  const auto priority = definition.value("priority", Json());
  if (priority.is_object()) check_signal(text_of(priority, "signal"), with_priority);
}

void References::check_signal(const std::string& name, const std::set<std::string>& kinds) const {
  const auto found = kinds_.find(name);
  if (found == kinds_.end()) throw std::invalid_argument("there is no signal " + name);
  if (kinds.empty() || kinds.contains(found->second)) return;
  throw std::invalid_argument("no step may do that to " + name + ", a signal of kind " +
                              found->second);
}

void References::check_task(const std::string& id) const {
  if (!tasks_.contains(id)) throw std::invalid_argument("no task is called " + id);
}

}  // namespace heist::test
