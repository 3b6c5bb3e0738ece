// The CPUs that a thread may use, and how it leaves one of them.
#include "heist/os/thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace HEIST_NAMESPACE::detail {
namespace {

using testing::ElementsAre;

using Cpus = std::vector<unsigned>;

/// Calls leave_this_cpu() on a thread that may use these CPUs only. Returns those it may use then.
Cpus usable_after_leaving(const Cpus& usable) {
  Cpus after;
  std::thread([&] {
    ASSERT_EQ(CpuSet(usable).use(), 0);
    leave_this_cpu();
    after = CpuSet().cpus();
  }).join();
  return after;
}

TEST(Thread, without_when_a_cpu_is_in_the_set_then_the_others_remain) {
  const CpuSet set(Cpus{1, 2, 5});
  EXPECT_THAT(set.without(2).cpus(), ElementsAre(1, 5));
  EXPECT_THAT(set.without(3).cpus(), ElementsAre(1, 2, 5));
}

TEST(Thread, leave_this_cpu_when_there_are_several_then_all_stay_usable) {
  const Cpus all = CpuSet().cpus();
  EXPECT_EQ(usable_after_leaving(all), all);
}

TEST(Thread, leave_this_cpu_when_there_is_only_one_then_it_stays_usable) {
  const Cpus one{CpuSet().cpus().back()};
  EXPECT_EQ(usable_after_leaving(one), one);
}

/// Whether the thread runs on another CPU afterwards.
bool leaves_its_cpu() {
  const int before = sched_getcpu();
  leave_this_cpu();
  return sched_getcpu() != before;
}

TEST(Thread, leave_this_cpu_when_there_are_several_then_another_one_goes_on) {
  if (CpuSet().cpus().size() == 1) GTEST_SKIP() << "There is only one CPU.";
  constexpr int tries = 20;  // as the system may move it back at once
  int left = 0;
  for (int i = 0; i < tries; ++i) left += leaves_its_cpu() ? 1 : 0;
  EXPECT_GT(left, tries / 2);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
