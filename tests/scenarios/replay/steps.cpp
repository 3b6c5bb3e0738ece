#include "scenarios/replay/steps.hpp"

#include <algorithm>
#include <cstdint>

namespace heist::test {

std::string text_of(const Json& object, const char* member) {
  return object.at(member).get<std::string>();
}

std::chrono::milliseconds time_of(const Json& object, const char* member) {
  return std::chrono::milliseconds(object.at(member).get<std::int64_t>());
}

TaskPriority priority_of(const Json& object) {
  return parse_task_priority(text_of(object, "priority")).value();
}

bool has_flag(const Json& step, const char* member) { return step.value(member, false); }

const Json& body_of(const Json& step) {
  static const Json nothing = Json::array();
  return step.contains("body") ? step["body"] : nothing;
}

std::string label_of(const Json& step) {
  if (step.at("op") == "post") return text_of(step, "id");
  if (step["op"] != "listen" || step.contains("label")) return text_of(step, "label");
  return text_of(step, "signal") + ":" + text_of(step, "event");
}

bool waits(const Json& step) {
  const Json& op = step.at("op");
  return op == "yield" || op == "await" || (op == "call" && has_flag(step, "wait"));
}

bool is_asynchronous(const Json& step) {
  return step.at("op") == "call" || has_flag(step, "async") ||
         std::ranges::any_of(body_of(step), waits);
}

bool returns_task(const Json& post) {
  return post.contains("returns") && post["returns"].is_object();
}

void for_each_step(const Json& steps, const std::string& place, const Visit& visit) {
  int number = 0;
  for (const Json& step : steps) {
    const auto here = place + "[" + std::to_string(number++) + "]";
    visit(step, here);
    for_each_step(body_of(step), here + ".body", visit);
  }
}

}  // namespace heist::test
