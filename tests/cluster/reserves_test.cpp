// Which reserves are needed while agents block. Rule: CLU-3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "heist/cluster/reserves.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WhoIsNeeded : public testing::Test {
 protected:
  /// One more member blocks, or goes on. Returns the reserves that are woken.
  std::vector<unsigned> block(Reserves& reserves, std::optional<unsigned> own = {}) {
    std::vector<unsigned> woken;
    reserves.enter(own, [&woken](unsigned rank) { woken.push_back(rank); });
    return woken;
  }
  std::vector<unsigned> go_on(Reserves& reserves, std::optional<unsigned> own = {}) {
    std::vector<unsigned> woken;
    reserves.leave(own, [&woken](unsigned rank) { woken.push_back(rank); });
    return woken;
  }
  /// How many of the first `count` reserves stand down.
  unsigned stand_down(Reserves& reserves, unsigned count) {
    unsigned stood_down = 0;
    for (unsigned rank = 0; rank < count; ++rank) {
      if (!reserves.stand_down(rank)) continue;
      ++stood_down;
      EXPECT_TRUE(reserves.try_park(rank));
    }
    return stood_down;
  }
};

TEST_F(WhoIsNeeded, reserves_when_all_agents_of_a_large_cluster_block_then_none_is_spare) {
  constexpr unsigned count = IdleAgents::most_agents / 4;
  Reserves reserves(count);
  std::vector<unsigned> woken;
  for (unsigned blocked = 1; blocked <= IdleAgents::most_agents; ++blocked) {
    for (const unsigned rank : block(reserves)) woken.push_back(rank);
    ASSERT_EQ(stand_down(reserves, count), 0U) << blocked << " are blocked";
  }
  std::vector<unsigned> all(count);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(woken, all);
  for (unsigned blocked = IdleAgents::most_agents; blocked > count; --blocked) {
    EXPECT_THAT(go_on(reserves), IsEmpty());
    ASSERT_EQ(stand_down(reserves, count), 0U) << blocked - 1 << " are blocked";
  }
  for (unsigned blocked = count; blocked > 0; --blocked) {
    EXPECT_THAT(go_on(reserves), IsEmpty());
    ASSERT_EQ(stand_down(reserves, count), 1U) << blocked - 1 << " are blocked";
  }
}

class WhoIsNeededInGroups : public WhoIsNeeded {
 protected:
  Reserves reserves{3, 1};
};

TEST_F(WhoIsNeededInGroups, reserve_when_it_blocks_then_another_takes_its_place) {
  EXPECT_THAT(block(reserves), ElementsAre(0));
  EXPECT_THAT(block(reserves, 0), ElementsAre(1));
  EXPECT_THAT(block(reserves, 1), ElementsAre(2));
  EXPECT_THAT(block(reserves, 2), IsEmpty());
  EXPECT_THAT(go_on(reserves, 1), IsEmpty());
  EXPECT_FALSE(reserves.stand_down(1));
}

TEST_F(WhoIsNeededInGroups, reserves_when_whom_they_stood_for_goes_on_then_the_free_one_is_spare) {
  EXPECT_THAT(block(reserves), ElementsAre(0));
  EXPECT_THAT(block(reserves, 0), ElementsAre(1));
  EXPECT_THAT(go_on(reserves), IsEmpty());
  EXPECT_TRUE(reserves.stand_down(1));
  EXPECT_THAT(go_on(reserves, 0), IsEmpty());
  EXPECT_TRUE(reserves.stand_down(0));
}

TEST_F(WhoIsNeededInGroups, reserve_when_it_blocks_in_a_task_of_its_own_then_no_other_one_comes) {
  EXPECT_THAT(block(reserves, 1), IsEmpty());
  EXPECT_THAT(block(reserves), ElementsAre(0));
  EXPECT_THAT(go_on(reserves), IsEmpty());
  EXPECT_TRUE(reserves.stand_down(0));
}

TEST_F(WhoIsNeededInGroups, reserve_when_it_comes_back_where_one_was_missing_then_it_is_needed) {
  for (const unsigned rank : {0U, 1U, 2U}) EXPECT_THAT(block(reserves, rank), IsEmpty());
  EXPECT_THAT(block(reserves), IsEmpty());
  EXPECT_THAT(go_on(reserves, 2), ElementsAre(2));
  EXPECT_FALSE(reserves.stand_down(2));
}

TEST_F(WhoIsNeededInGroups,
       reserve_when_its_thread_was_not_made_then_the_next_to_block_asks_again) {
  EXPECT_THAT(block(reserves), ElementsAre(0));
  EXPECT_THAT(block(reserves), ElementsAre(1));
  reserves.withdraw(1);
  EXPECT_THAT(block(reserves, 0), ElementsAre(1, 2));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
