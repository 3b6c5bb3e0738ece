// What a word of TimerKeeper has room for. Rule: DLY-5.
#include "heist/cluster/timer_keeper.hpp"

#include <gtest/gtest.h>

#include "heist/cluster/idle_agents.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

TEST(TimerKeeper, watch_when_the_last_of_most_agents_watches_then_it_is_that_one) {
  TimerKeeper keeper;
  ASSERT_TRUE(keeper.try_watch(IdleAgents::most_agents - 1, 7));
  EXPECT_EQ(keeper.watch().watcher, IdleAgents::most_agents - 1);
  EXPECT_EQ(keeper.watch().until, 7U);
}

TEST(TimerKeeper, watch_when_the_time_does_not_fit_then_every_armer_wakes_the_watcher) {
  TimerKeeper keeper;
  ASSERT_TRUE(keeper.try_watch(0, TimerKeeper::never - 1));
  EXPECT_EQ(keeper.watch().watcher, 0U);
  EXPECT_EQ(keeper.watch().until, TimerKeeper::never);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
