// CPU quotas of cgroups, on made-up files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "heist/os/cpu_limit.hpp"
#include "support/made_up_root.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;

/// The files that the quota is read from.
class CgroupQuota : public testing::Test {
 protected:
  void write(const fs::path& file, std::string_view text) const { root_.write(file, text); }
  void own_cgroup(std::string_view lines) const { write("proc/self/cgroup", lines); }
  void mounts(std::string_view lines) const { write("proc/self/mountinfo", lines); }
  void v1_quota(const fs::path& folder, std::string_view quota, std::string_view period) const {
    write(folder / "cpu.cfs_quota_us", quota);
    write(folder / "cpu.cfs_period_us", period);
  }
  [[nodiscard]] unsigned quota() const { return cgroup_cpu_quota(root()); }
  [[nodiscard]] const fs::path& root() const { return root_.path(); }

 private:
  support::MadeUpRoot root_;
};

constexpr auto v2_mount =
    "22 27 0:21 / /proc rw,nosuid - proc proc rw\n"
    "27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
    "35 23 0:30 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr auto v1_mount =
    "33 32 0:29 / /sys/fs/cgroup/cpuset rw shared:14 - cgroup cgroup rw,cpuset\n"
    "34 32 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:15 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 32 0:31 / /sys/fs/cgroup/systemd rw shared:16 - cgroup cgroup rw,xattr,name=systemd\n";
constexpr auto v1_cgroups = "4:cpu,cpuacct:/jobs/one\n3:cpuset:/\n1:name=systemd:/user\n";

/// cgroup v2, one cgroup `/jobs/one`.
class CgroupV2Quota : public CgroupQuota {
 protected:
  CgroupV2Quota() {
    own_cgroup("0::/jobs/one\n");
    mounts(v2_mount);
  }
  void limit(std::string_view text) const { write("sys/fs/cgroup/jobs/one/cpu.max", text); }
};

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_v2_then_quota_by_period) {
  limit("300000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_no_whole_number_then_rounded_up) {
  limit("150000 100000\n");
  EXPECT_EQ(quota(), 2U);
  limit("100001 100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_below_one_cpu_then_one) {
  limit("1000 100000\n");
  EXPECT_EQ(quota(), 1U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_max_then_none) {
  limit("max 100000\n");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_parent_is_tighter_then_the_parents) {
  limit("800000 100000\n");
  write("sys/fs/cgroup/jobs/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_parent_is_wider_then_its_own) {
  limit("50000 25000\n");
  write("sys/fs/cgroup/jobs/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_only_an_ancestor_has_one_then_that) {
  limit("max 100000\n");
  write("sys/fs/cgroup/cpu.max", "500000 100000\n");
  EXPECT_EQ(quota(), 5U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_a_sibling_or_child_has_one_then_none) {
  write("sys/fs/cgroup/jobs/two/cpu.max", "100000 100000\n");
  write("sys/fs/cgroup/jobs/one/inner/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_the_cgroup_was_removed_then_the_parents) {
  own_cgroup("0::/jobs/one (deleted)\n");
  write("sys/fs/cgroup/jobs/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_cpu_max_is_odd_then_none) {
  for (const auto* text :
       {"", "\n", " ", "200000", "200000\n100000\n", "200000 0\n", "0 100000\n", "-1 100000\n",
        "200000 -1\n", "2e5 100000\n", "200000  100000\n", "200000 100000 7\n", "+200000 100000\n",
        "99999999999999999999999 100000\n", "MAX 100000\n", "\377\376\001\n"}) {
    limit(text);
    EXPECT_EQ(quota(), 0U) << '"' << text << '"';
  }
  limit(std::string("2\0 1\n", 5));
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_vast_then_the_largest_number) {
  limit("4294967296 1\n");
  EXPECT_EQ(quota(), 4294967295U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_cpu_max_is_a_folder_then_none) {
  fs::create_directories(root() / "sys/fs/cgroup/jobs/one/cpu.max");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_mount_point_is_escaped_then_unescaped) {
  mounts("35 23 0:30 / /my\\040c\\134g\\011roups rw - cgroup2 none rw\n");
  write("my c\\g\troups/jobs/one/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_a_backslash_is_no_escape_then_itself) {
  mounts("35 23 0:30 / /a\\04b\\777c\\04 rw - cgroup2 none rw\n");
  write("a\\04b\\777c\\04/jobs/one/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_path_has_colons_and_blanks_then_as_it_stands) {
  own_cgroup("0::/a:b c\\040\n");
  write("sys/fs/cgroup/a:b c\\040/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

// A container with a namespace of its own: it sees itself as the top.
TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_namespace_then_the_top_of_the_mount) {
  own_cgroup("0::/\n");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_submount_is_the_cgroup_then_the_top_of_the_mount) {
  mounts("35 23 0:30 /jobs/one /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_below_a_submount_then_all_down_from_it) {
  own_cgroup("0::/pods/my pod/one/two\n");
  mounts("35 23 0:30 /pods/my\\040pod /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write("sys/fs/cgroup/one/two/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4U);
  write("sys/fs/cgroup/one/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_submount_is_of_another_cgroup_then_none) {
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  for (const auto* shown : {"/jobs/two", "/jobs/on", "/jobs/one/inner", "/..", "jobs", ""}) {
    mounts("35 23 0:30 " + std::string(shown) + " /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
    EXPECT_EQ(quota(), 0U) << shown;
  }
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_outside_of_the_namespace_then_none) {
  own_cgroup("0::/../other\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  write("sys/fs/other/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_several_mounts_then_the_tightest) {
  mounts(
      "35 23 0:30 / /first rw - cgroup2 cgroup rw\n"
      "36 23 0:30 /jobs /second rw - cgroup2  rw\n");
  write("first/jobs/one/cpu.max", "400000 100000\n");
  write("second/one/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_files_are_cut_anywhere_then_quota_or_none) {
  limit("300000 100000\n");
  const std::string_view text = v2_mount;
  for (std::size_t length = 0; length < text.size(); ++length) {
    mounts(text.substr(0, length));
    EXPECT_THAT(quota(), AnyOf(0U, 3U)) << length;
  }
}

TEST_F(CgroupV2Quota, cgroup_cpu_quota_when_lines_are_garbage_then_they_are_passed_over) {
  limit("300000 100000\n");
  own_cgroup("\n:\n::\nx\n0:\n0:/\n:::\n0::\n1:cpu\n\001\377\n1::/odd\n0:x:/odd\n0::/jobs/one\n");
  mounts(
      "\n \n-\n - - - - - - - - - -\n1 2 3 4 5 6 - cgroup2\n1 2 3 / /odd 6 7 cgroup2 9 10\n"
      "1 2 3 / /odd - cgroup2 8 9\n1 2 3 / /odd - cgroup2 8 9 - proc 12 13\n" +
      std::string(v2_mount));
  write("odd/jobs/one/cpu.max", "100000 100000\n");
  write("sys/fs/cgroup/odd/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupQuota, cgroup_cpu_quota_when_files_are_missing_then_none) {
  EXPECT_EQ(quota(), 0U);
  own_cgroup("0::/\n");
  EXPECT_EQ(quota(), 0U);
  mounts(v2_mount);
  EXPECT_EQ(quota(), 0U);
  fs::remove(root() / "proc/self/cgroup");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupQuota, cgroup_cpu_quota_when_files_are_folders_then_none) {
  fs::create_directories(root() / "proc/self/cgroup");
  fs::create_directories(root() / "proc/self/mountinfo");
  EXPECT_EQ(quota(), 0U);
}

/// cgroup v1, whose controller shares a mount with another, as usual.
class CgroupV1Quota : public CgroupQuota {
 protected:
  CgroupV1Quota() {
    own_cgroup(v1_cgroups);
    mounts(v1_mount);
  }
  static constexpr auto folder = "sys/fs/cgroup/cpu,cpuacct/jobs/one";
};

TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_v1_then_quota_by_period) {
  v1_quota(folder, "250000\n", "100000\n");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_v1_parent_is_tighter_then_the_parents) {
  v1_quota(folder, "400000\n", "100000\n");
  v1_quota("sys/fs/cgroup/cpu,cpuacct/jobs", "100000\n", "50000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_v1_minus_one_then_none) {
  v1_quota(folder, "-1\n", "100000\n");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_v1_period_is_odd_then_none) {
  for (const auto* period : {"", "0\n", "-1\n", "much\n", "100000 \n"}) {
    v1_quota(folder, "400000\n", period);
    EXPECT_EQ(quota(), 0U) << period;
  }
  fs::remove(root() / folder / "cpu.cfs_period_us");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_another_controller_has_files_then_none) {
  v1_quota("sys/fs/cgroup/cpuset/jobs/one", "100000\n", "100000\n");
  v1_quota("sys/fs/cgroup/cpuset", "100000\n", "100000\n");
  v1_quota("sys/fs/cgroup/systemd/jobs/one", "100000\n", "100000\n");
  v1_quota("sys/fs/cgroup/cpu,cpuacct/user", "100000\n", "100000\n");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_v1_container_then_the_top_of_the_mount) {
  mounts("34 32 0:30 /jobs/one /sys/fs/cgroup/cpu ro master:15 - cgroup cgroup rw,cpu\n");
  v1_quota("sys/fs/cgroup/cpu", "200000\n", "100000\n");
  EXPECT_EQ(quota(), 2U);
}

/// Both at once: systemd's groups in v2, the controllers in v1.
TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_hybrid_then_v1) {
  own_cgroup(std::string(v1_cgroups) + "0::/user\n");
  mounts(std::string(v1_mount) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  v1_quota(folder, "200000\n", "100000\n");
  v1_quota("sys/fs/cgroup/cpu,cpuacct/user", "100000\n", "100000\n");
  write("sys/fs/cgroup/unified/jobs/one/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupV1Quota, cgroup_cpu_quota_when_both_versions_limit_then_the_tightest) {
  own_cgroup(std::string(v1_cgroups) + "0::/user\n");
  mounts(std::string(v1_mount) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  v1_quota(folder, "300000\n", "100000\n");
  write("sys/fs/cgroup/unified/user/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2U);
  write("sys/fs/cgroup/unified/user/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 3U);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
