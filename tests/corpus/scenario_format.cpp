#include "corpus/scenario_format.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

namespace heist::test {

namespace {

using Names = std::set<std::string>;

struct Members {
  Names required;
  Names optional;
};
using Table = std::map<std::string, Members>;

const Table& table_of_steps() {
  static const Table table{
      {"post", {{"id"}, {"priority", "signal", "delay", "body", "returns", "throws", "async"}}},
      {"abort", {{"signal"}, {"reason"}}},
      {"setPriority", {{"signal", "priority"}, {}}},
      {"yield", {{}, {"catch"}}},
      {"await", {{"id"}, {"rethrow"}}},
      {"then", {{"id", "label"}, {"body"}}},
      {"call", {{"label", "body"}, {"wait", "catch"}}},
      {"microtask", {{"label"}, {"body"}}},
      {"timer", {{"ms", "label"}, {"body"}}},
      {"listen", {{"signal", "event"}, {"label", "once", "body"}}},
      {"read", {{"signal"}, {}}},
      {"throwIfAborted", {{"signal"}, {"catch"}}},
      {"log", {{"text"}, {}}},
      {"spin", {{"ms"}, {}}}};
  return table;
}

const Table& table_of_signals() {
  static const Table table{{"task", {{"name", "kind"}, {"priority"}}},
                           {"abort", {{"name", "kind"}, {}}},
                           {"aborted", {{"name", "kind"}, {"reason"}}},
                           {"timeout", {{"name", "kind", "ms"}, {}}},
                           {"abort-any", {{"name", "kind", "of"}, {}}},
                           {"task-any", {{"name", "kind", "of"}, {"priority"}}}};
  return table;
}

void check_members(const Json& object, const Members& members, const std::string& what) {
  for (const auto& name : members.required) {
    if (!object.contains(name)) throw std::invalid_argument(what + " without " + name);
  }
  for (const auto& [name, value] : object.items()) {
    if (name == "op" || members.required.contains(name) || members.optional.contains(name)) {
      continue;
    }
    throw std::invalid_argument(what + " with an unknown member " + name);
  }
}

void check_entry(const Json& object, const Table& table, const char* key) {
  const auto name = object.at(key).get<std::string>();
  const auto found = table.find(name);
  if (found == table.end()) throw std::invalid_argument("unknown " + std::string(key) + " " + name);
  check_members(object, found->second, name);
}

void check_step(const Json& step) {
  const bool makes_a_signal = step.at("op") == "create";
  check_entry(step, makes_a_signal ? table_of_signals() : table_of_steps(),
              makes_a_signal ? "kind" : "op");
  const bool returns_task = step.contains("returns") && step["returns"].is_object();
  if (returns_task && is_asynchronous(step)) {
    throw std::invalid_argument("an asynchronous body that returns a task's promise");
  }
}

void for_each_step(const Json& steps, const std::function<void(const Json&)>& visit) {
  for (const Json& step : steps) {
    visit(step);
    for_each_step(body_of(step), visit);
  }
}

}  // namespace

const Json& body_of(const Json& step) {
  static const Json nothing = Json::array();
  return step.contains("body") ? step["body"] : nothing;
}

bool waits(const Json& step) {
  const Json& op = step.at("op");
  return op == "yield" || op == "await" || (op == "call" && step.value("wait", false));
}

bool is_asynchronous(const Json& step) {
  return step.at("op") == "call" || step.value("async", false) ||
         std::ranges::any_of(body_of(step), waits);
}

void check_format(const Json& scenario) {
  const Members members{{"id", "theme", "title", "origin", "signals", "main", "trace"},
                        {"sensitive"}};
  check_members(scenario, members, "a scenario");
  for (const Json& signal : scenario["signals"]) check_entry(signal, table_of_signals(), "kind");
  for_each_step(scenario["main"], check_step);
}

std::set<std::string> missing_for(const Json& scenario) {
  const Names missing{"yield", "timeout", "abort-any", "task-any"};
  Names used;
  for (const Json& signal : scenario.at("signals"))
    used.insert(signal.at("kind").get<std::string>());
  for_each_step(scenario.at("main"), [&](const Json& step) {
    used.insert(step.at("op").get<std::string>());
    if (step["op"] == "create") used.insert(step.at("kind").get<std::string>());
  });
  std::erase_if(used, [&](const auto& name) { return !missing.contains(name); });
  return used;
}

}  // namespace heist::test
