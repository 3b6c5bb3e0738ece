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
  std::vector<unsigned> go_on(Reserves& reserves) {
    std::vector<unsigned> woken;
    reserves.leave([&woken](unsigned rank) { woken.push_back(rank); });
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

TEST_F(WhoIsNeeded, reserve_when_it_blocks_then_another_takes_its_place_whatever_its_group) {
  Reserves reserves(3, 1);
  EXPECT_THAT(block(reserves), ElementsAre(0));
  EXPECT_THAT(block(reserves, 0), ElementsAre(1));
  EXPECT_THAT(block(reserves, 1), ElementsAre(2));
  EXPECT_THAT(block(reserves, 2), IsEmpty());
  for (int left = 0; left < 2; ++left) EXPECT_THAT(go_on(reserves), IsEmpty());
  EXPECT_EQ(stand_down(reserves, 3), 1U);
}

TEST_F(WhoIsNeeded, reserve_when_it_blocks_in_a_task_of_its_own_then_it_takes_no_place) {
  Reserves reserves(2, 1);
  EXPECT_THAT(block(reserves, 1), IsEmpty());
  EXPECT_THAT(block(reserves), ElementsAre(0));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
