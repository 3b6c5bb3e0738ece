#include "scenarios/cooperative/format.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "scenarios/cooperative/priority_number.hpp"
#include "scenarios/replay/members.hpp"
#include "scenarios/replay/steps.hpp"

namespace heist::test {

namespace {

using namespace member;  // NOLINT(google-build-using-namespace): for the tables below

const Members& members_of_scenarios() {
  static const Members members{{"id", text},     {"theme", text},  {"note?", text}, {"start", real},
                               {"steps", array}, {"trace", array}, {"host", array}};
  return members;
}

const Table& table_of_steps() {
  static const Table table{
      {"schedule", {{"id", text}, {"priority", real}, {"delay?", real}, {"body", array}}},
      {"cancel", {{"id", text}}},
      {"advance", {{"ms", duration}}},
      {"block", {{"ms", duration}}},
      {"flushHost", {}},
      {"fireTimeouts", {}},
      {"flushAll", {}},
      {"checkYield", {}},
      {"currentPriority", {}},
      {"now", {}},
      {"log", {{"message", text}}},
      {"throw", {{"message", text}}},
      {"try", {{"body", array}}},
      {"runWithPriority", {{"priority", real}, {"body", array}}},
      {"next", {{"body", array}}},
      {"wrap", {{"id", text}, {"body", array}}},
      {"callWrapped", {{"id", text}}},
      {"requestPaint", {}},
      {"forceFrameRate", {{"fps", real}}},
      {"continue", {{"body", array}}},
      {"work", {{"units", count}, {"ms", duration}}}};
  return table;
}

/// What FORMAT.md 3 calls top, inside and tail. A body gives its value to a task, or to nobody.
enum class Body : std::uint8_t { top, gives_nothing, gives_value };

bool gives_its_bodys_value(const std::string& op) {
  return op == "runWithPriority" || op == "next" || op == "try";
}

void check_place(const std::string& op, Body body, bool is_last) {
  static const std::set<std::string> top{"block", "flushHost", "fireTimeouts", "flushAll"};
  if (body != Body::top && top.contains(op)) {
    throw std::invalid_argument(op + " stands at top level only");
  }
  if (body == Body::top && op == "throw") {
    throw std::invalid_argument("throw does not stand at top level");
  }
  const bool is_value = op == "continue" || op == "work";
  if (is_value && !(body == Body::gives_value && is_last)) {
    throw std::invalid_argument("the value of " + op + " reaches no task");
  }
}

Body inner_body(const std::string& op, Body outer, bool is_last) {
  if (op == "schedule" || op == "continue") return Body::gives_value;
  const bool passes_on = gives_its_bodys_value(op) && is_last && outer == Body::gives_value;
  return passes_on ? Body::gives_value : Body::gives_nothing;
}

void check_steps(const Json& steps, const std::string& place, Body body) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Json& step = steps[i];
    const bool is_last = i + 1 == steps.size();
    const auto here = place + "[" + std::to_string(i) + "]";
    at_place(here, [&] {
      if (!step.is_object()) throw std::invalid_argument("not an object");
      check_row(step, table_of_steps(), "op");
      check_place(step["op"], body, is_last);
    });
    check_steps(body_of(step), here + ".body", inner_body(step["op"], body, is_last));
  }
}

}  // namespace

bool is_cooperative(const Json& scenario) {
  return scenario.is_object() &&
         std::ranges::any_of(std::initializer_list<const char*>{"steps", "start", "host"},
                             [&](const char* member) { return scenario.contains(member); });
}

void check_cooperative_format(const Json& scenario) {
  at_place("scenario", [&] { check_members(scenario, members_of_scenarios(), ""); });
  check_steps(scenario["steps"], "steps", Body::top);
}

bool has_impossible_priority(const Json& scenario) {
  bool is_found = false;
  for_each_step(scenario.at("steps"), "steps", [&](const Json& step, const std::string& /*place*/) {
    is_found = is_found || (step["op"] == "schedule" && !priority_of_number(step["priority"]));
  });
  return is_found;
}

}  // namespace heist::test
