// That the interpreter has every step, member and event of the corpus's FORMAT.md, not only what
// the scenarios beside it happen to use.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "corpus/sample_scenario.hpp"
#include "scenarios/replay/format.hpp"
#include "scenarios/replay/replay.hpp"

namespace heist {
namespace {

using Json = nlohmann::json;
using test::sample_scenario;

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
  const Json scenario = sample_scenario(signals, GetParam().main);
  test::check_format(scenario);
  const Json trace = test::replay(scenario);
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
        Sample{"yield_in_main_and_a_microtask",
               R"([{"op": "microtask", "label": "m", "body": [{"op": "yield"}]},
                   {"op": "yield"}, {"op": "yield"}])",
               R"([["microtask", "m"], ["resume", "main", 1], ["resume", "m", 1],
                   ["resume", "main", 2]])"},
        Sample{"yield_in_a_listener_and_a_timer",
               R"([{"op": "listen", "signal": "s", "event": "abort", "body": [{"op": "yield"}]},
                   {"op": "timer", "ms": 5, "label": "late", "body": [{"op": "yield"}]},
                   {"op": "abort", "signal": "s"}])",
               R"([["abort", "s", "AbortError"], ["resume", "s:abort", 1], ["timer", "late"],
                   ["resume", "late", 1]])"},
        Sample{"yield_in_a_reaction",
               R"([{"op": "post", "id": "A"},
                   {"op": "then", "id": "A", "label": "n", "body": [{"op": "yield"}]}])",
               R"([["run", "A"], ["resolved", "A", "undefined"],
                   ["then", "n", "resolved", "undefined"], ["resume", "n", 1]])"},
        Sample{
            "yield_that_is_rejected_counts",
            R"([{"op": "post", "id": "A", "signal": "s",
                    "body": [{"op": "yield"}, {"op": "abort", "signal": "s", "reason": "x"},
                             {"op": "yield", "catch": true}, {"op": "yield"}]}])",
            R"([["run", "A"], ["resume", "A", 1], ["caught", "A", "x"], ["rejected", "A", "x"]])"},
        // As an asynchronous function that returns a promise: two microtasks until the body's
        // promise settles, counted here by a chain of five.
        Sample{"asynchronous_post_that_returns_a_settled_task",
               R"([{"op": "post", "id": "A", "returns": 7},
                   {"op": "post", "id": "B", "returns": {"task": "A"}, "body": [{"op": "yield"},
                    {"op": "microtask", "label": "1", "body": [
                     {"op": "microtask", "label": "2", "body": [
                      {"op": "microtask", "label": "3", "body": [
                       {"op": "microtask", "label": "4", "body": [
                        {"op": "microtask", "label": "5"}]}]}]}]}]}])",
               R"([["run", "A"], ["resolved", "A", 7], ["run", "B"], ["resume", "B", 1],
                   ["microtask", "1"], ["microtask", "2"], ["microtask", "3"], ["microtask", "4"],
                   ["resolved", "B", 7], ["microtask", "5"]])"},
        Sample{
            "asynchronous_post_that_returns_a_pending_task",
            R"([{"op": "post", "id": "A", "priority": "background", "throws": "x"},
                   {"op": "then", "id": "A", "label": "n", "body": [
                    {"op": "microtask", "label": "1", "body": [
                     {"op": "microtask", "label": "2", "body": [
                      {"op": "microtask", "label": "3"}]}]}]},
                   {"op": "post", "id": "B", "async": true, "returns": {"task": "A"}}])",
            R"([["run", "B"], ["run", "A"], ["rejected", "A", "x"], ["then", "n", "rejected", "x"],
                   ["microtask", "1"], ["microtask", "2"], ["rejected", "B", "x"],
                   ["microtask", "3"]])"},
        Sample{"asynchronous_post_that_throws_at_its_end",
               R"([{"op": "post", "id": "A", "async": true, "throws": "x", "returns": 1}])",
               R"([["run", "A"], ["rejected", "A", "x"]])"},
        Sample{"priority_change_of_an_abort_signal_never_happens",
               R"([{"op": "listen", "signal": "s", "event": "prioritychange"},
                   {"op": "abort", "signal": "s"}, {"op": "log", "text": "end"}])",
               R"([["log", "end"]])"},
        Sample{"signals_of_every_kind_that_steps_create",
               R"([{"op": "create", "name": "late", "kind": "timeout", "ms": 5},
                   {"op": "create", "name": "either", "kind": "abort-any", "of": ["s", "late"]},
                   {"op": "create", "name": "plain", "kind": "task-any", "of": []},
                   {"op": "create", "name": "fixed", "kind": "task-any", "of": ["dead", "s"],
                    "priority": "background"},
                   {"op": "create", "name": "led", "kind": "task-any", "of": ["either"],
                    "priority": {"signal": "t"}},
                   {"op": "listen", "signal": "led", "event": "abort"},
                   {"op": "listen", "signal": "led", "event": "prioritychange"},
                   {"op": "setPriority", "signal": "t", "priority": "background"},
                   {"op": "read", "signal": "either"}, {"op": "read", "signal": "plain"},
                   {"op": "read", "signal": "fixed"}, {"op": "read", "signal": "led"}])",
               R"([["prioritychange", "led", "user-visible", "background"],
                   ["read", "either", null, false, "undefined"],
                   ["read", "plain", "user-visible", false, "undefined"],
                   ["read", "fixed", "background", true, "r"],
                   ["read", "led", "background", false, "undefined"],
                   ["abort", "led", "TimeoutError"]])"},
        Sample{"timeout_of_a_signal_that_nothing_but_a_read_looks_at",
               R"([{"op": "create", "name": "late", "kind": "timeout", "ms": 5},
                   {"op": "create", "name": "either", "kind": "abort-any", "of": ["s", "late"]},
                   {"op": "timer", "ms": 70, "label": "after",
                    "body": [{"op": "read", "signal": "late"}, {"op": "read", "signal": "either"},
                             {"op": "throwIfAborted", "signal": "either"}]}])",
               R"([["timer", "after"], ["read", "late", null, true, "TimeoutError"],
                   ["read", "either", null, true, "TimeoutError"],
                   ["failed", "after", "TimeoutError"]])"},
        Sample{"delay_longer_than_any_clock_runs_that_is_aborted",
               R"([{"op": "post", "id": "A", "signal": "s", "delay": 9007199254740991},
                   {"op": "timer", "ms": 86400000000, "label": "in 1000 days",
                    "body": [{"op": "abort", "signal": "s"}]}])",
               R"([["timer", "in 1000 days"], ["rejected", "A", "AbortError"]])"},
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

}  // namespace
}  // namespace heist
