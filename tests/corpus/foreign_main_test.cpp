// Which scenarios may have their main on a foreign thread.
#include <gtest/gtest.h>

#include "corpus/sample_scenario.hpp"
#include "scenarios/replay/replay.hpp"

namespace heist {
namespace {

bool may_be_foreign(const char* main) {
  return test::main_may_be_foreign(
      test::sample_scenario(R"([{"name": "s", "kind": "abort"}])", main));
}

TEST(ForeignMain, main_when_it_neither_waits_nor_asks_for_the_loop_then_it_may) {
  EXPECT_TRUE(may_be_foreign(R"([
      {"op": "post", "id": "A", "delay": 5, "body": [{"op": "yield"}, {"op": "spin", "ms": 5}]},
      {"op": "then", "id": "A", "label": "n", "body": [{"op": "microtask", "label": "m"}]},
      {"op": "call", "label": "c", "body": [{"op": "read", "signal": "s"}]},
      {"op": "create", "name": "t", "kind": "timeout", "ms": 5},
      {"op": "abort", "signal": "s"}])"));
}

TEST(ForeignMain, main_when_it_waits_or_asks_for_the_loop_then_it_may_not) {
  for (const auto* main :
       {R"([{"op": "yield"}])", R"([{"op": "microtask", "label": "m"}])",
        R"([{"op": "timer", "label": "t", "ms": 5}])", R"([{"op": "spin", "ms": 5}])",
        R"([{"op": "post", "id": "A"}, {"op": "await", "id": "A"}])",
        R"([{"op": "call", "label": "c", "wait": true, "body": []}])",
        R"([{"op": "call", "label": "c", "body": [{"op": "microtask", "label": "m"}]}])"}) {
    EXPECT_FALSE(may_be_foreign(main)) << main;
  }
}

TEST(ForeignMain, main_when_a_listener_asks_for_the_loop_then_it_may_unless_main_calls_it) {
  const std::string listen =
      R"([{"op": "listen", "signal": "s", "event": "abort", "body": [{"op": "yield"}]})";
  const std::string abort = R"({"op": "abort", "signal": "s"})";
  EXPECT_TRUE(may_be_foreign((listen + "]").c_str()));
  EXPECT_TRUE(may_be_foreign(
      (listen + R"(, {"op": "post", "id": "A", "body": [)" + abort + "]}]").c_str()));
  EXPECT_FALSE(may_be_foreign((listen + ", " + abort + "]").c_str()));
  EXPECT_FALSE(may_be_foreign(
      (listen + R"(, {"op": "call", "label": "c", "body": [)" + abort + "]}]").c_str()));
}

}  // namespace
}  // namespace heist
