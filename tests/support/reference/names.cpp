#include "support/reference/names.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace heist::reference {

namespace {

using Json = nlohmann::json;

struct Names {
  std::set<std::string> made;
  std::set<std::string> used;
};

// A task and a signal may have the same name, so their kind is put before it.
std::string task(const Json& id) { return "task " + id.get<std::string>(); }
std::string signal(const Json& name) { return "signal " + name.get<std::string>(); }

void collect_definition(const Json& definition, Names& names) {
  names.made.insert(signal(definition["name"]));
  for (const Json& source : definition.value("of", Json::array()))
    names.used.insert(signal(source));
  const Json priority = definition.value("priority", Json());
  if (priority.is_object()) names.used.insert(signal(priority.at("signal")));
}

void collect_step(const Json& step, Names& names) {
  const Json& op = step.at("op");
  if (op == "create") return collect_definition(step, names);
  if (step.contains("signal")) names.used.insert(signal(step["signal"]));
  if (step.contains("id")) (op == "post" ? names.made : names.used).insert(task(step["id"]));
  const Json returns = step.value("returns", Json());
  if (returns.is_object()) names.used.insert(task(returns.at("task")));
}

void collect_steps(const Json& steps, Names& names) {
  for (const Json& step : steps) {
    collect_step(step, names);
    if (step.contains("body")) collect_steps(step["body"], names);
  }
}

}  // namespace

bool names_what_it_has(const Json& scenario) {
  Names names;
  for (const Json& definition : scenario.at("signals")) collect_definition(definition, names);
  collect_steps(scenario.at("main"), names);
  return std::ranges::includes(names.made, names.used);
}

}  // namespace heist::reference
