// The reference model objects to scenarios that FORMAT.md rules out, or to which it allows more
// than one trace.
#include <gtest/gtest.h>

#include <string>

#include "support/reference/model.hpp"

namespace heist::reference {
namespace {

using Json = nlohmann::json;

struct Case {
  const char* name;
  const char* main;  ///< in JSON; it may use the task signal s and the abort signal a
  const char* objection;
};

void PrintTo(const Case& checked, std::ostream* out) { *out << checked.name; }

class Judge : public testing::TestWithParam<Case> {};

TEST_P(Judge, scenario_when_it_proves_something_or_not_then_the_objection) {
  const Json signals = {{{"name", "s"}, {"kind", "task"}}, {{"name", "a"}, {"kind", "abort"}}};
  const Json scenario = {{"signals", signals}, {"main", Json::parse(GetParam().main)}};
  EXPECT_EQ(judge(scenario).objection, GetParam().objection);
}

constexpr auto sound = "";

INSTANTIATE_TEST_SUITE_P(
    Cases, Judge,
    testing::Values(
        Case{"nothing", "[]", sound},
        Case{"two_delays_at_once",
             R"([{"op": "post", "id": "A", "delay": 60}, {"op": "post", "id": "B", "delay": 60}])",
             sound},
        Case{"timer_against_post",
             R"([{"op": "post", "id": "A", "delay": 60}, {"op": "timer", "label": "t", "ms": 60}])",
             "a plain task against a scheduler task"},
        Case{"delay_within_a_spin",
             R"([{"op": "post", "id": "A", "delay": 60}, {"op": "spin", "ms": 120}])", sound},
        Case{"delay_within_a_spin_then_a_post",
             R"([{"op": "post", "id": "A", "delay": 60}, {"op": "spin", "ms": 120},
                 {"op": "post", "id": "B"}])",
             "the moment in which the end of a delay is noticed"},
        Case{"delay_at_the_end_of_a_spin",
             R"([{"op": "post", "id": "A", "delay": 60}, {"op": "spin", "ms": 60}])",
             "a delay that ends with a spin"},
        Case{"task_that_awaits_itself",
             R"([{"op": "post", "id": "A", "body": [{"op": "await", "id": "A"}]}])",
             "a promise that never settles"},
        Case{"task_that_returns_itself", R"([{"op": "post", "id": "A", "returns": {"task": "A"}}])",
             "a promise that never settles"},
        Case{"posted_twice", R"([{"op": "post", "id": "A"}, {"op": "post", "id": "A"}])",
             "posted twice"},
        Case{"created_twice", R"([{"op": "create", "name": "s", "kind": "task"}])",
             "created twice: s"},
        Case{"awaited_before_it_is_posted",
             R"([{"op": "then", "label": "h", "id": "A"}, {"op": "post", "id": "A"}])",
             "no task yet: \"A\""},
        Case{"read_before_it_is_created",
             R"([{"op": "read", "signal": "b"}, {"op": "create", "name": "b", "kind": "abort"}])",
             "no signal yet: \"b\""},
        Case{"name_that_nothing_has",
             R"([{"op": "listen", "signal": "s", "event": "abort",
                  "body": [{"op": "then", "label": "h", "id": "A"}]}])",
             "a name that nothing has"},
        Case{"priority_of_an_abort_signal",
             R"([{"op": "setPriority", "signal": "a", "priority": "background"}])",
             "no task controller"},
        Case{"listener_for_what_never_comes",
             R"([{"op": "listen", "signal": "a", "event": "prioritychange"}])",
             "no task signal: \"a\""}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Judge, scenario_when_listeners_breed_listeners_then_it_is_too_long) {
  Json steps = Json::array();
  const Json listen = {{"op", "listen"}, {"signal", "s"}, {"event", "prioritychange"}};
  Json breeding = listen;
  breeding["body"] = {listen, listen, listen};
  for (auto& inner : breeding["body"]) inner["body"] = {listen, listen, listen};
  steps.push_back(breeding);
  for (int i = 0; i < 100; ++i) {
    for (const auto* priority : {"background", "user-blocking"}) {
      steps.push_back({{"op", "setPriority"}, {"signal", "s"}, {"priority", priority}});
    }
  }
  const Json signals = {{{"name", "s"}, {"kind", "task"}}, {{"name", "a"}, {"kind", "abort"}}};
  EXPECT_EQ(judge({{"signals", signals}, {"main", steps}}).objection, "too many steps");
}

}  // namespace
}  // namespace heist::reference
