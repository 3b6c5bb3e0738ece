// Which CPUs belong together, on made-up files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heist/os/cpu_groups.hpp"
#include "heist/os/thread.hpp"
#include "support/made_up_root.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using support::MadeUpRoot;
using testing::ElementsAre;
using testing::IsEmpty;

/// A machine of two nodes with two caches each, of two CPUs.
class CpuGroups : public testing::Test {
 protected:
  CpuGroups() {
    root_.write("devices/system/node/node0/cpulist", "0-1,4-5\n");
    root_.write("devices/system/node/node1/cpulist", "2-3,6-7\n");
    root_.write("devices/system/node/online", "0-1\n");
    for (const auto* list : {"0,4", "1,5", "2,6", "3,7"}) {
      for (const unsigned cpu : cpus_in(list)) {
        cache(cpu, "index0", "1", std::to_string(cpu));
        cache(cpu, "index2", "2", std::to_string(cpu));
        cache(cpu, "index3", "3", list);
      }
    }
  }
  void cache(unsigned cpu, const std::string& index, std::string_view level,
             std::string_view shared) const {
    const std::filesystem::path folder =
        "devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/" + index;
    root_.write(folder / "level", level);
    root_.write(folder / "shared_cpu_list", shared);
  }
  [[nodiscard]] Topology nodes(const std::vector<unsigned>& cpus) const {
    return by_numa_node(cpus, root_.path());
  }
  [[nodiscard]] Topology caches(const std::vector<unsigned>& cpus) const {
    return by_last_level_cache(cpus, root_.path());
  }
  [[nodiscard]] const MadeUpRoot& root() const { return root_; }

 private:
  MadeUpRoot root_;
};

TEST_F(CpuGroups, by_numa_node_when_two_nodes_then_two_groups) {
  EXPECT_THAT(nodes({0, 1, 2, 3, 4, 5, 6, 7}),
              ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7)));
}

TEST_F(CpuGroups, by_numa_node_when_not_all_cpus_may_be_used_then_the_others) {
  EXPECT_THAT(nodes({1, 6, 7}), ElementsAre(ElementsAre(1), ElementsAre(6, 7)));
  EXPECT_THAT(nodes({2, 3}), ElementsAre(ElementsAre(2, 3)));
}

TEST_F(CpuGroups, by_numa_node_when_ten_nodes_then_in_the_order_of_their_numbers) {
  for (unsigned node = 2; node <= 10; ++node) {
    root().write("devices/system/node/node" + std::to_string(node) + "/cpulist",
                 std::to_string(node + 6));
  }
  EXPECT_THAT(nodes({8, 9, 16}), ElementsAre(ElementsAre(8), ElementsAre(9), ElementsAre(16)));
}

TEST_F(CpuGroups, by_numa_node_when_a_cpu_is_nowhere_then_the_last_group) {
  EXPECT_THAT(nodes({0, 8, 2}), ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(8)));
}

TEST_F(CpuGroups, by_last_level_cache_when_caches_then_the_highest_level_groups) {
  EXPECT_THAT(caches({0, 1, 2, 3, 4, 5, 6, 7}), ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5),
                                                            ElementsAre(2, 6), ElementsAre(3, 7)));
}

TEST_F(CpuGroups, by_last_level_cache_when_the_index_is_no_level_then_the_level_counts) {
  cache(0, "index9", "2", "0-7");
  cache(0, "index10", "no level", "0-7");
  EXPECT_THAT(caches({0, 1, 4}), ElementsAre(ElementsAre(0, 4), ElementsAre(1)));
}

TEST(CpuGroupsOfNoFiles, groups_when_the_system_says_nothing_then_one) {
  const MadeUpRoot root;
  EXPECT_THAT(by_numa_node({0, 1}, root.path()), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(by_last_level_cache({0, 1}, root.path()), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(by_numa_node({}, root.path()), IsEmpty());
}

TEST(CpuLists, cpus_in_when_ranges_then_all_of_them) {
  EXPECT_THAT(cpus_in("0"), ElementsAre(0));
  EXPECT_THAT(cpus_in("0-2,8,10-11"), ElementsAre(0, 1, 2, 8, 10, 11));
}

TEST(CpuLists, cpus_in_when_malformed_then_none) {
  for (const auto* list : {"", "-", "1-", "-1", "3-1", "0-1-2", "0,", "a", "0x1", "0 1",
                           "0-4294967295", "4294967296"}) {
    EXPECT_THAT(cpus_in(list), IsEmpty()) << '"' << list << '"';
  }
}

/// What the system really says.
TEST(CpuGroupsOfThisMachine, groups_when_asked_then_each_cpu_is_in_one) {
  for (const auto& groups : {numa_nodes(), last_level_caches()}) {
    std::vector<unsigned> all;
    for (const auto& group : groups) {
      EXPECT_THAT(group, testing::Not(IsEmpty()));
      all.insert(all.end(), group.begin(), group.end());
    }
    EXPECT_THAT(all, testing::UnorderedElementsAreArray(CpuSet().cpus()));
  }
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
