// Which reserves are needed while agents block. Rule: CLU-3.
#include <gtest/gtest.h>

#include <optional>

#include "heist/cluster/reserves.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

TEST(WhoIsNeeded, reserves_when_all_agents_of_a_large_cluster_block_then_none_is_spare) {
  Reserves reserves(Reserves::most);
  for (unsigned blocked = 1; blocked <= IdleAgents::most_agents; ++blocked) {
    static_cast<void>(reserves.enter(std::nullopt));
    ASSERT_FALSE(reserves.has_surplus()) << blocked << " are blocked";
  }
  for (unsigned blocked = IdleAgents::most_agents; blocked > Reserves::most; --blocked) {
    ASSERT_FALSE(reserves.stand_down(0)) << blocked << " are blocked";
    reserves.leave();
  }
  reserves.leave();
  EXPECT_TRUE(reserves.stand_down(0));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
