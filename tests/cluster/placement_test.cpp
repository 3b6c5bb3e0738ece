// Rule: CLU-2. In which parts of a machine the agents of a cluster run.
#include "heist/cluster/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace HEIST_NAMESPACE::detail {
namespace {

using testing::ElementsAre;

std::vector<unsigned> sizes_of(const Placement& placement) {
  std::vector<unsigned> sizes;
  for (unsigned group = 0; group < placement.groups().count(); ++group) {
    const auto range = placement.groups().range(group);
    sizes.push_back(range.end - range.begin);
  }
  return sizes;
}

TEST(Placements, agents_when_groups_then_in_proportion_to_the_cpus) {
  EXPECT_THAT(sizes_of(Placement({{0, 1}, {2, 3}}, 4)), ElementsAre(2, 2));
  EXPECT_THAT(sizes_of(Placement({{0, 1}, {2, 3}}, 1024)), ElementsAre(512, 512));
  EXPECT_THAT(sizes_of(Placement({{0, 1, 2}, {3}}, 8)), ElementsAre(6, 2));
  EXPECT_THAT(sizes_of(Placement({{0}, {1}, {2}}, 4)), ElementsAre(1, 2, 1));
  const Topology uneven{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, {15}};
  EXPECT_THAT(sizes_of(Placement(uneven, 4)), ElementsAre(3, 1)) << "each has one";
}

TEST(Placements, agents_when_fewer_than_groups_then_groups_without_any_are_left_out) {
  const Placement one({{0, 1, 2}, {3}}, 1);
  EXPECT_THAT(sizes_of(one), ElementsAre(1));
  EXPECT_THAT(one.cpus_of(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(sizes_of(Placement({{0}, {1}, {2}, {3}}, 2)), ElementsAre(1, 1));
}

TEST(Placements, agents_when_no_topology_then_one_group_that_runs_anywhere) {
  const Placement placement(3);
  EXPECT_THAT(sizes_of(placement), ElementsAre(3));
  EXPECT_FALSE(placement.is_confined());
  EXPECT_EQ(placement.near_here(), 0U);
}

TEST(Placements, cpu_of_when_pinned_then_the_cpus_of_the_group_in_turn) {
  const Placement placement({{4, 6}, {5}}, 6);
  ASSERT_THAT(sizes_of(placement), ElementsAre(4, 2));
  std::vector<int> cpus;
  for (unsigned agent = 0; agent < 6; ++agent) cpus.push_back(placement.cpu_of(agent));
  EXPECT_THAT(cpus, ElementsAre(4, 6, 4, 6, 5, 5));
}

TEST(Placements, near_cpu_when_in_a_group_then_its_first_agent) {
  const Placement placement({{0, 2}, {1, 5, 2}}, 4);
  ASSERT_THAT(sizes_of(placement), ElementsAre(2, 2));
  EXPECT_EQ(placement.near_cpu(0), 0U);
  EXPECT_EQ(placement.near_cpu(1), 2U);
  EXPECT_EQ(placement.near_cpu(5), 2U);
  EXPECT_EQ(placement.near_cpu(2), 0U) << "it is of its first group";
}

TEST(Placements, near_cpu_when_in_no_group_then_by_turns) {
  const Placement placement({{0}, {1}, {2}, {3}}, 2);  // groups 0 and 2 have the agents
  ASSERT_THAT(placement.cpus_of(0), ElementsAre(0));
  ASSERT_THAT(placement.cpus_of(1), ElementsAre(2));
  EXPECT_EQ(placement.near_cpu(0), 0U);
  EXPECT_EQ(placement.near_cpu(1), 1U);
  EXPECT_EQ(placement.near_cpu(2), 1U);
  EXPECT_EQ(placement.near_cpu(3), 1U);
  EXPECT_EQ(placement.near_cpu(100), 0U);
  EXPECT_EQ(placement.near_cpu(101), 1U);
}

TEST(Groups, of_when_an_agent_then_its_group) {
  const AgentGroups groups({2, 3});
  std::vector<unsigned> found;
  for (unsigned agent = 0; agent < 5; ++agent) found.push_back(groups.of(agent));
  EXPECT_THAT(found, ElementsAre(0, 0, 1, 1, 1));
  EXPECT_EQ(groups.first_near(1), 0U);
  EXPECT_EQ(groups.first_near(4), 2U);
}

TEST(Groups, of_when_behind_the_groups_then_by_turns) {
  const AgentGroups groups({2, 3});
  EXPECT_THAT((std::vector{groups.of(5), groups.of(6), groups.of(7)}), ElementsAre(0, 1, 0));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
