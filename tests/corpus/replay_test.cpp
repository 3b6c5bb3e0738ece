// Rule: ORD-2…4, PRI-1…4, PRI-6, PRI-7, ABT-1…3, ABT-6, PRO-1, DLY-2, DLY-4, YLD-1…4, as the
// posttask corpus has them: every scenario, event for event.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/replay/difference.hpp"
#include "scenarios/replay/replay.hpp"
#include "scenarios/replay/scenario_files.hpp"

namespace heist {
namespace {

using test::MainThread;
using test::ReplayOptions;
using test::YieldForm;

std::filesystem::path corpus() { return std::filesystem::path(HEIST_CONFORMANCE_DIR) / "posttask"; }

/// Names of the files; throws when the corpus is missing.
std::vector<std::string> themes() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(corpus())) {
    if (entry.path().extension() == ".ndjson") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class Replay : public testing::TestWithParam<std::string> {
 protected:
  void expect_the_traces_of_the_corpus(const ReplayOptions& options) {
    for (const auto& entry : test::read_scenarios(corpus() / (GetParam() + ".ndjson"))) {
      ASSERT_EQ(entry.error, "") << entry.place;
      const bool is_foreign = options.main_thread == MainThread::foreign;
      if (is_foreign && !test::main_may_be_foreign(entry.scenario)) continue;
      ++replayed;
      EXPECT_EQ(test::difference(entry.scenario["trace"], test::replay(entry.scenario, options)),
                "")
          << entry.scenario["id"] << " in " << entry.place;
    }
  }

  int replayed = 0;
};
INSTANTIATE_TEST_SUITE_P(Themes, Replay, testing::ValuesIn(themes()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST_P(Replay, scenarios_when_replayed_then_the_trace_of_the_corpus) {
  expect_the_traces_of_the_corpus({});
  EXPECT_GE(replayed, 10);
}

// Rule: YLD-1
TEST_P(Replay, scenarios_when_a_yield_is_awaited_as_a_promise_then_the_trace_of_the_corpus) {
  expect_the_traces_of_the_corpus({.yield_form = YieldForm::as_promise});
}

// Rule: ORD-5
TEST_P(Replay, scenarios_when_main_is_foreign_and_the_trace_determined_then_that_of_the_corpus) {
  expect_the_traces_of_the_corpus({.main_thread = MainThread::foreign});
  EXPECT_GE(replayed, 1);
}

}  // namespace
}  // namespace heist
