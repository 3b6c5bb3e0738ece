#include "scenarios/replay/format.hpp"

#include <stdexcept>
#include <string>

#include "scenarios/replay/member_types.hpp"
#include "scenarios/replay/members.hpp"
#include "scenarios/replay/references.hpp"
#include "scenarios/replay/steps.hpp"

namespace heist::test {

namespace {

using namespace member;  // NOLINT(google-build-using-namespace): for the tables below

const Members& members_of_scenarios() {
  static const Members members{{"id", text},     {"theme", text},      {"title", text},
                               {"origin", text}, {"signals", array},   {"main", array},
                               {"trace", array}, {"sensitive?", texts}};
  return members;
}

const Table& table_of_steps() {
  static const Table table{
      {"post",
       {{"id", text},
        {"priority?", priority},
        {"signal?", text},
        {"delay?", time},
        {"body?", array},
        {"returns?", result},
        {"throws?", text},
        {"async?", flag}}},
      {"abort", {{"signal", text}, {"reason?", value}}},
      {"setPriority", {{"signal", text}, {"priority", priority}}},
      {"yield", {{"catch?", flag}}},
      {"await", {{"id", text}, {"rethrow?", flag}}},
      {"then", {{"id", text}, {"label", text}, {"body?", array}}},
      {"call", {{"label", text}, {"body", array}, {"wait?", flag}, {"catch?", flag}}},
      {"microtask", {{"label", text}, {"body?", array}}},
      {"timer", {{"ms", time}, {"label", text}, {"body?", array}}},
      {"listen",
       {{"signal", text}, {"event", event}, {"label?", text}, {"once?", flag}, {"body?", array}}},
      {"read", {{"signal", text}}},
      {"throwIfAborted", {{"signal", text}, {"catch?", flag}}},
      {"log", {{"text", text}}},
      {"spin", {{"ms", time}}}};
  return table;
}

const Table& table_of_signals() {
  static const Table table{{"task", {{"name", text}, {"priority?", priority}}},
                           {"abort", {{"name", text}}},
                           {"aborted", {{"name", text}, {"reason?", value}}},
                           {"timeout", {{"name", text}, {"ms", time}}},
                           {"abort-any", {{"name", text}, {"of", texts}}},
                           {"task-any", {{"name", text}, {"of", texts}, {"priority?", followed}}}};
  return table;
}

void check_step(const Json& step) {
  if (!step.is_object()) throw std::invalid_argument("not an object");
  check_member(step, "op", text);
  if (step["op"] == "create") return check_row(step, table_of_signals(), "kind");
  check_row(step, table_of_steps(), "op");
}

void check_signal(const Json& definition) {
  if (!definition.is_object()) throw std::invalid_argument("not an object");
  if (definition.contains("op")) throw std::invalid_argument("with an unknown member op");
  check_row(definition, table_of_signals(), "kind");
}

}  // namespace

void check_format(const Json& scenario) {
  at_place("scenario", [&] {
    if (!scenario.is_object()) throw std::invalid_argument("not an object");
    check_members(scenario, members_of_scenarios(), "");
  });
  int number = 0;
  for (const Json& signal : scenario["signals"]) {
    at_place("signals[" + std::to_string(number++) + "]", [&] { check_signal(signal); });
  }
  for_each_step(scenario["main"], "main", [](const Json& step, const std::string& place) {
    at_place(place, [&] { check_step(step); });
  });
  References references(scenario);
  for_each_step(scenario["main"], "main", [&](const Json& step, const std::string& place) {
    at_place(place, [&] { references.check_step(step); });
  });
}

}  // namespace heist::test
