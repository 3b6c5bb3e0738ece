// On random histories, the checkers say the same as the definitions, which look at all pairs.
#include <gtest/gtest.h>

#include <cstdint>

#include "simulated_cluster.hpp"
#include "told_history.hpp"

namespace heist::support {
namespace {

using stress::history_levels;
using Fault = SimulatedCluster::Fault;

constexpr std::uint64_t histories = 300;

SimulatedCluster make_cluster(Fault fault, std::uint64_t seed) {
  stress::Random random(seed);
  const std::size_t posters = 1 + random.below(3);
  const std::size_t agents = 1 + random.below(16);
  const std::size_t tasks = 1 + random.below(200);
  return {posters, agents, tasks, fault, seed};
}

void expect_same_levels(const std::vector<ToldTask>& tasks, const Judged& judged) {
  const stress::LevelVerdict expected = judge_all_pairs(tasks).levels;
  EXPECT_EQ(judged.levels.tasks, expected.tasks);
  EXPECT_EQ(judged.levels.pairs_compared, expected.pairs_compared);
  EXPECT_EQ(judged.levels.violating_pairs, expected.violating_pairs);
  EXPECT_EQ(judged.levels.pairs_excused, expected.pairs_excused);
}

void expect_same_ranks(const std::vector<ToldTask>& tasks, const Judged& judged) {
  for (std::size_t level = 0; level < history_levels; ++level) {
    stress::LogHistogram expected;
    for (const ToldTask& task : tasks) {
      if (task.record.id.level == level) expected.add(rank_error_of(task, tasks));
    }
    const stress::LogHistogram& rank = judged.ranks.level(level).rank;
    EXPECT_EQ(rank.total(), expected.total());
    EXPECT_EQ(rank.max(), expected.max());
    for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9, 0.99}) {
      EXPECT_EQ(rank.quantile(share), expected.quantile(share));
    }
  }
}

// Rule: CLU-1, CLU-2
TEST(HistoryProperty, history_when_agents_keep_the_levels_then_no_violation) {
  std::uint64_t compared = 0;
  std::uint64_t excused = 0;
  for (std::uint64_t seed = 1; seed <= histories && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    SimulatedCluster cluster = make_cluster(Fault::none, seed);
    const auto& tasks = cluster.run();
    const Judged judged = judge(tasks, seed);
    EXPECT_EQ(judged.levels.violating_pairs, 0U);
    EXPECT_TRUE(judged.once.holds()) << judged.once.text();
    expect_same_levels(tasks, judged);
    expect_same_ranks(tasks, judged);
    compared += judged.levels.pairs_compared;
    excused += judged.levels.pairs_excused;
  }
  EXPECT_GT(compared, 1000 * histories) << "a run that compares nothing proves nothing";
  EXPECT_GT(excused, 10 * histories);
}

// Rule: CLU-1
TEST(HistoryProperty, history_when_one_pick_goes_by_a_higher_task_then_reported) {
  std::uint64_t inverted = 0;
  for (std::uint64_t seed = 1; seed <= histories && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    SimulatedCluster cluster = make_cluster(Fault::one_inversion, seed);
    const auto& tasks = cluster.run();
    const Judged judged = judge(tasks, seed);
    EXPECT_EQ(judged.levels.violating_pairs != 0, cluster.has_inverted());
    EXPECT_EQ(judged.levels.examples.empty(), !cluster.has_inverted());
    EXPECT_TRUE(judged.once.holds()) << judged.once.text();
    expect_same_levels(tasks, judged);
    if (cluster.has_inverted()) ++inverted;
  }
  EXPECT_GT(inverted, histories / 2);
}

// Rule: CLU-1
TEST(HistoryProperty, example_when_reported_then_it_is_a_violation_by_definition) {
  for (std::uint64_t seed = 1; seed <= histories && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    SimulatedCluster cluster = make_cluster(Fault::one_inversion, seed);
    for (const auto& [chosen, passed, level] : judge(cluster.run(), seed).levels.examples) {
      EXPECT_EQ(passed.id.level, level);
      EXPECT_GT(passed.id.level, chosen.id.level);
      EXPECT_LT(passed.post_end, chosen.pick_begin);
      EXPECT_GT(passed.pick_begin, chosen.start);
      EXPECT_NE(passed.start, stress::never) << "how it went on is part of the report";
    }
  }
}

}  // namespace
}  // namespace heist::support
