// That scenarios outside of FORMAT.md are refused, with the place and what is wrong there.
#include <gtest/gtest.h>

#include <ostream>
#include <stdexcept>
#include <string>

#include "corpus/sample_scenario.hpp"
#include "scenarios/replay/broken_scenario.hpp"
#include "scenarios/replay/format.hpp"
#include "scenarios/replay/replay.hpp"

namespace heist {
namespace {

using test::sample_scenario;

constexpr auto two_signals = R"([{"name": "s", "kind": "abort"}, {"name": "t", "kind": "task"}])";

std::string refusal_of(const nlohmann::json& scenario) {
  try {
    test::check_format(scenario);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

struct Wrong {
  const char* name;
  const char* main;
  const char* refusal;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << wrong.name;
}

class Format : public testing::TestWithParam<Wrong> {};

TEST_P(Format, check_when_a_step_is_wrong_then_says_where_and_what) {
  EXPECT_EQ(refusal_of(sample_scenario(two_signals, GetParam().main)), GetParam().refusal);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, Format,
    testing::Values(
        Wrong{"unknown_step", R"([{"op": "jump"}])", "main[0]: unknown jump"},
        Wrong{"no_op", R"([{"text": "x"}])", "main[0]: without op"},
        Wrong{"no_object", R"([1])", "main[0]: not an object"},
        Wrong{"missing_member", R"([{"op": "log"}])", "main[0]: without text"},
        Wrong{"unknown_member", R"([{"op": "log", "text": "x", "loud": true}])",
              "main[0]: with an unknown member loud"},
        Wrong{"wrong_type", R"([{"op": "log", "text": 1}])", "main[0]: text is not a string: 1"},
        Wrong{"negative_time", R"([{"op": "spin", "ms": -1}])",
              "main[0]: ms is not a number of milliseconds: -1"},
        Wrong{"no_priority", R"([{"op": "post", "id": "A", "priority": "high"}])",
              R"(main[0]: priority is not a priority: "high")"},
        Wrong{"deep", R"([{"op": "log", "text": ""},
                          {"op": "microtask", "label": "m", "body": [{"op": "jump"}]}])",
              "main[1].body[0]: unknown jump"},
        Wrong{"unknown_kind", R"([{"op": "create", "name": "n", "kind": "strange"}])",
              "main[0]: unknown strange"},
        Wrong{"member_of_another_kind",
              R"([{"op": "create", "name": "n", "kind": "abort", "priority": "background"}])",
              "main[0]: with an unknown member priority"},
        Wrong{"unknown_signal", R"([{"op": "read", "signal": "x"}])",
              "main[0]: there is no signal x"},
        Wrong{"unknown_source",
              R"([{"op": "create", "name": "n", "kind": "abort-any", "of": ["x"]}])",
              "main[0]: there is no signal x"},
        Wrong{"priority_of_an_abort_signal",
              R"([{"op": "setPriority", "signal": "s", "priority": "background"}])",
              "main[0]: no step may do that to s, a signal of kind abort"},
        Wrong{"following_an_abort_signal",
              R"([{"op": "create", "name": "n", "kind": "task-any", "of": [],
                   "priority": {"signal": "s"}}])",
              "main[0]: no step may do that to s, a signal of kind abort"},
        Wrong{"unknown_task", R"([{"op": "await", "id": "A"}])", "main[0]: no task is called A"},
        Wrong{"unknown_task_returned", R"([{"op": "post", "id": "A", "returns": {"task": "B"}}])",
              "main[0]: no task is called B"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(FormatOfScenarios, check_when_a_member_is_missing_unknown_or_wrong_then_says_so) {
  auto scenario = sample_scenario(two_signals, "[]");
  EXPECT_EQ(refusal_of(scenario), "none");
  scenario["extra"] = 1;
  EXPECT_EQ(refusal_of(scenario), "scenario: with an unknown member extra");
  scenario.erase("extra");
  scenario["sensitive"] = "early-resolve";
  EXPECT_EQ(refusal_of(scenario),
            R"(scenario: sensitive is not an array of strings: "early-resolve")");
  scenario.erase("sensitive");
  scenario.erase("trace");
  EXPECT_EQ(refusal_of(scenario), "scenario: without trace");
  EXPECT_EQ(refusal_of(nlohmann::json::array()), "scenario: not an object");
}

TEST(FormatOfSignals, check_when_a_definition_is_wrong_then_says_where_and_what) {
  EXPECT_EQ(refusal_of(sample_scenario(R"([{"name": "n", "kind": "strange"}])", "[]")),
            "signals[0]: unknown strange");
  EXPECT_EQ(refusal_of(
                sample_scenario(two_signals, R"([{"op": "create", "name": "s", "kind": "task"}])")),
            "two signals are called s");
}

TEST(FormatWhenRun, replay_when_what_is_used_is_not_there_yet_then_the_scenario_is_broken) {
  for (const auto* main :
       {R"([{"op": "then", "id": "A", "label": "n"}, {"op": "post", "id": "A"}])",
        R"([{"op": "await", "id": "A"}, {"op": "post", "id": "A"}])",
        R"([{"op": "post", "id": "A"}, {"op": "post", "id": "A"}])",
        R"([{"op": "read", "signal": "n"}, {"op": "create", "name": "n", "kind": "abort"}])"}) {
    const auto scenario = sample_scenario("[]", main);
    test::check_format(scenario);
    EXPECT_THROW(static_cast<void>(test::replay(scenario)), test::BrokenScenario) << main;
  }
  const auto backwards = R"([{"name": "n", "kind": "abort-any", "of": ["m"]},
                             {"name": "m", "kind": "abort"}])";
  EXPECT_THROW(static_cast<void>(test::replay(sample_scenario(backwards, "[]"))),
               test::BrokenScenario);
}

}  // namespace
}  // namespace heist
