// Which scenarios can be replayed on a clock that nobody stops.
#include <gtest/gtest.h>

#include <string>

#include "corpus/sample_scenario.hpp"
#include "scenarios/replay/replay.hpp"

namespace heist {
namespace {

bool depends_on_time(const std::string& main, const std::string& signals = "[]") {
  return test::depends_on_time(test::sample_scenario(signals, main));
}

TEST(ScenarioTime, scenario_when_nothing_waits_for_time_then_it_does_not_depend_on_it) {
  EXPECT_FALSE(depends_on_time(R"([
      {"op": "post", "id": "A", "delay": 0, "body": [{"op": "yield"}]},
      {"op": "post", "id": "B", "signal": "s"}, {"op": "create", "name": "t", "kind": "task"},
      {"op": "microtask", "label": "m"}, {"op": "abort", "signal": "s"}])",
                               R"([{"name": "s", "kind": "abort"}])"));
}

TEST(ScenarioTime, scenario_when_a_step_takes_time_or_waits_for_it_then_it_depends_on_it) {
  for (const std::string step :
       {R"({"op": "post", "id": "A", "delay": 1})", R"({"op": "timer", "label": "t", "ms": 0})",
        R"({"op": "create", "name": "t", "kind": "timeout", "ms": 5})",
        R"({"op": "spin", "ms": 5})"}) {
    EXPECT_TRUE(depends_on_time("[" + step + "]")) << step;
    EXPECT_TRUE(depends_on_time(R"([{"op": "post", "id": "B", "body": [)" + step + "]}]")) << step;
  }
}

TEST(ScenarioTime, scenario_when_a_signal_times_out_then_it_depends_on_it) {
  EXPECT_TRUE(depends_on_time("[]", R"([{"name": "s", "kind": "timeout", "ms": 5}])"));
}

}  // namespace
}  // namespace heist
