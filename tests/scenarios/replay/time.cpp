// Which scenarios have the same trace however fast time goes by.
#include <algorithm>

#include "scenarios/replay/replay.hpp"
#include "scenarios/replay/steps.hpp"

namespace heist::test {

namespace {

bool is_timeout(const Json& definition) { return definition.at("kind") == "timeout"; }

bool is_about_time(const Json& step) {
  const auto op = text_of(step, "op");
  if (op == "post") return step.contains("delay") && time_of(step, "delay").count() != 0;
  return op == "timer" || op == "spin" || (op == "create" && is_timeout(step));
}

}  // namespace

bool depends_on_time(const Json& scenario) {
  bool result = std::ranges::any_of(scenario.at("signals"), is_timeout);
  for_each_step(scenario.at("main"), "main",
                [&result](const Json& step, const std::string& /*place*/) {
                  result = result || is_about_time(step);
                });
  return result;
}

}  // namespace heist::test
