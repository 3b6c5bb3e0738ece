// That the interpreter has every step, member and event of the corpus's FORMAT.md, not only what the scenarios
// beside it happen to use, and that it passes over nothing.
#include "corpus/interpreter.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <stdexcept>
#include <string>

#include "corpus/scenario_format.hpp"

namespace heist {
namespace {

using test::Json;

Json scenario(const std::string& signals, const std::string& main) {
  return {{"id", "x/y"},
          {"theme", "x"},
          {"title", "y"},
          {"origin", "hand"},
          {"signals", Json::parse(signals)},
          {"main", Json::parse(main)},
          {"trace", Json::array()}};
}

struct Sample {
  const char* name;
  const char* main;
  const char* trace;
};
void PrintTo(const Sample& sample, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << sample.name;
}

constexpr auto signals = R"([{"name": "dead", "kind": "aborted", "reason": "r"},
                             {"name": "s", "kind": "abort"},
                             {"name": "t", "kind": "task"}])";

class Interpreter : public testing::TestWithParam<Sample> {};

TEST_P(Interpreter, replay_when_given_a_sample_then_the_trace_of_the_format) {
  const Json trace = test::replay(scenario(signals, GetParam().main));
  EXPECT_EQ(trace, Json::parse(GetParam().trace));
}

INSTANTIATE_TEST_SUITE_P(
    Format, Interpreter,
    testing::Values(
        Sample{"worked_example_of_section_10",
               R"([{"op": "post", "id": "A", "async": true, "returns": "a",
                    "body": [{"op": "microtask", "label": "m1",
                              "body": [{"op": "microtask", "label": "m2"}]}]},
                   {"op": "post", "id": "B", "returns": "b",
                    "body": [{"op": "microtask", "label": "m3",
                              "body": [{"op": "microtask", "label": "m4"}]}]}])",
               R"([["run", "A"], ["microtask", "m1"], ["microtask", "m2"], ["resolved", "A", "a"],
                   ["run", "B"], ["microtask", "m3"], ["microtask", "m4"], ["resolved", "B", "b"]])"},
        Sample{"await_in_a_microtask",
               R"([{"op": "post", "id": "A", "returns": 0},
                   {"op": "microtask", "label": "m", "body": [{"op": "await", "id": "A"}]}])",
               R"([["microtask", "m"], ["run", "A"], ["resolved", "A", 0],
                   ["awaited", "m", "A", "resolved", 0]])"},
        Sample{"await_in_a_listener",
               R"([{"op": "post", "id": "A"},
                   {"op": "listen", "signal": "s", "event": "abort",
                    "body": [{"op": "await", "id": "A"}]},
                   {"op": "abort", "signal": "s"}])",
               R"([["abort", "s", "AbortError"], ["run", "A"], ["resolved", "A", "undefined"],
                   ["awaited", "s:abort", "A", "resolved", "undefined"]])"},
        Sample{"await_that_rethrows",
               R"([{"op": "post", "id": "A", "throws": "x"},
                   {"op": "post", "id": "B", "body": [{"op": "await", "id": "A", "rethrow": true},
                                                      {"op": "log", "text": "never"}]}])",
               R"([["run", "A"], ["rejected", "A", "x"], ["run", "B"],
                   ["awaited", "B", "A", "rejected", "x"], ["rejected", "B", "x"]])"},
        Sample{"call_that_is_waited_for_and_fails",
               R"([{"op": "call", "label": "c", "wait": true,
                    "body": [{"op": "throwIfAborted", "signal": "dead"}]},
                   {"op": "log", "text": "never"}])",
               R"([["failed", "c", "r"], ["failed", "main", "r"]])"},
        Sample{"call_whose_failure_is_caught",
               R"([{"op": "call", "label": "c", "wait": true, "catch": true,
                    "body": [{"op": "log", "text": "in"},
                             {"op": "throwIfAborted", "signal": "dead"}]},
                   {"op": "log", "text": "after"}])",
               R"([["log", "in"], ["failed", "c", "r"], ["caught", "main", "r"],
                   ["log", "after"]])"},
        Sample{"call_that_nobody_waits_for",
               R"([{"op": "call", "label": "c",
                    "body": [{"op": "throwIfAborted", "signal": "dead"}]},
                   {"op": "log", "text": "after"}])",
               R"([["failed", "c", "r"], ["log", "after"]])"},
        Sample{"call_in_a_call",
               R"([{"op": "post", "id": "A"},
                   {"op": "call", "label": "outer",
                    "body": [{"op": "call", "label": "inner", "wait": true,
                              "body": [{"op": "await", "id": "A"}]},
                             {"op": "log", "text": "inner is done"}]},
                   {"op": "log", "text": "end of main"}])",
               R"([["log", "end of main"], ["run", "A"], ["resolved", "A", "undefined"],
                   ["awaited", "inner", "A", "resolved", "undefined"], ["log", "inner is done"]])"},
        Sample{"then_on_a_rejection_with_a_body_that_fails",
               R"([{"op": "post", "id": "A", "throws": "x"},
                   {"op": "then", "id": "A", "label": "n",
                    "body": [{"op": "throwIfAborted", "signal": "dead"}]}])",
               R"([["run", "A"], ["rejected", "A", "x"], ["then", "n", "rejected", "x"],
                   ["failed", "n", "r"]])"},
        Sample{"post_that_returns_a_task",
               R"([{"op": "post", "id": "A", "returns": 7},
                   {"op": "post", "id": "B", "returns": {"task": "A"}}])",
               R"([["run", "A"], ["resolved", "A", 7], ["run", "B"], ["resolved", "B", 7]])"},
        Sample{"post_with_a_failing_plain_body",
               R"([{"op": "post", "id": "A", "throws": "later",
                    "body": [{"op": "throwIfAborted", "signal": "dead"}]}])",
               R"([["run", "A"], ["rejected", "A", "r"]])"},
        Sample{"timer_with_a_body_that_fails",
               R"([{"op": "timer", "ms": 5, "label": "late",
                    "body": [{"op": "throwIfAborted", "signal": "dead"}]}])",
               R"([["timer", "late"], ["failed", "late", "r"]])"},
        Sample{"listeners_once_and_always_with_and_without_a_label",
               R"([{"op": "listen", "signal": "t", "event": "prioritychange", "once": true,
                    "label": "once"},
                   {"op": "listen", "signal": "t", "event": "prioritychange"},
                   {"op": "setPriority", "signal": "t", "priority": "background"},
                   {"op": "setPriority", "signal": "t", "priority": "user-blocking"}])",
               R"([["prioritychange", "t", "user-visible", "background", "once"],
                   ["prioritychange", "t", "user-visible", "background"],
                   ["prioritychange", "t", "background", "user-blocking"]])"},
        Sample{"set_priority_within_its_own_event",
               R"([{"op": "listen", "signal": "t", "event": "prioritychange",
                    "body": [{"op": "setPriority", "signal": "t", "priority": "background"}]},
                   {"op": "setPriority", "signal": "t", "priority": "background"}])",
               R"([["prioritychange", "t", "user-visible", "background"],
                   ["threw", "setPriority", "NotAllowedError"]])"},
        Sample{"signals_that_steps_create",
               R"([{"op": "create", "name": "gone", "kind": "aborted"},
                   {"op": "create", "name": "low", "kind": "task", "priority": "background"},
                   {"op": "read", "signal": "gone"}, {"op": "read", "signal": "low"},
                   {"op": "throwIfAborted", "signal": "low"},
                   {"op": "throwIfAborted", "signal": "gone", "catch": true}])",
               R"([["read", "gone", null, true, "AbortError"],
                   ["read", "low", "background", false, "undefined"],
                   ["threw", "throwIfAborted", "AbortError"]])"},
        Sample{"reason_null",
               R"([{"op": "post", "id": "A", "signal": "s"},
                   {"op": "abort", "signal": "s", "reason": null}, {"op": "read", "signal": "s"}])",
               R"([["read", "s", null, true, null], ["rejected", "A", null]])"},
        Sample{"delays_that_expire_within_a_spin",
               R"([{"op": "post", "id": "A", "delay": 10}, {"op": "post", "id": "B", "delay": 5},
                   {"op": "spin", "ms": 20}, {"op": "post", "id": "C", "priority": "background"}])",
               R"([["run", "B"], ["resolved", "B", "undefined"], ["run", "A"],
                   ["resolved", "A", "undefined"], ["run", "C"], ["resolved", "C", "undefined"]])"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(InterpreterFormat, replay_when_a_step_kind_or_member_is_unknown_then_refused) {
  for (const auto* main :
       {R"([{"op": "jump"}])", R"([{"op": "log"}])",
        R"([{"op": "log", "text": "x", "loud": true}])",
        R"([{"op": "microtask", "label": "m", "body": [{"op": "jump"}]}])",
        R"([{"op": "create", "name": "n", "kind": "strange"}])",
        R"([{"op": "create", "name": "n", "kind": "abort", "priority": "background"}])"}) {
    EXPECT_THROW(static_cast<void>(test::replay(scenario("[]", main))), std::invalid_argument);
  }
  const auto strange = scenario(R"([{"name": "n", "kind": "strange"}])", "[]");
  EXPECT_THROW(static_cast<void>(test::replay(strange)), std::invalid_argument);
}

TEST(InterpreterFormat, missing_for_when_used_at_any_depth_then_named_and_only_then) {
  const auto missing = [](const char* definitions, const char* main) {
    return test::missing_for(scenario(definitions, main));
  };
  const auto* deep = R"([{"op": "listen", "signal": "s", "event": "abort", "body": [
      {"op": "then", "id": "A", "label": "n", "body": [{"op": "yield"}]}]},
      {"op": "create", "name": "n", "kind": "timeout", "ms": 60}])";
  EXPECT_EQ(missing(signals, deep), (std::set<std::string>{"timeout", "yield"}));
  EXPECT_EQ(missing(R"([{"name": "n", "kind": "task-any", "of": []},
                        {"name": "m", "kind": "abort-any", "of": []}])",
                    "[]"),
            (std::set<std::string>{"abort-any", "task-any"}));
  EXPECT_EQ(missing(signals, R"([{"op": "log", "text": "yield"}])"), std::set<std::string>{});
}

}  // namespace
}  // namespace heist
