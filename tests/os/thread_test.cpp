// The CPUs that a thread may use, and how it is moved off one of them.
#include "heist/os/thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <limits>
#include <vector>

#include "support/rival_thread.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using support::RivalThread;
using testing::ElementsAre;

using Cpus = std::vector<unsigned>;

TEST(Thread, without_when_a_cpu_is_in_the_set_then_the_others_remain) {
  const CpuSet set(Cpus{1, 2, 5});
  EXPECT_THAT(set.without(2).cpus(), ElementsAre(1, 5));
  EXPECT_THAT(set.without(3).cpus(), ElementsAre(1, 2, 5));
}

TEST(Thread, move_off_this_cpu_when_a_thread_waits_for_it_then_it_runs_elsewhere) {
  if (CpuSet().cpus().size() == 1) GTEST_SKIP() << "There is only one CPU.";
  EXPECT_TRUE(support::rivals_are_moved_by(move_off_this_cpu));
}

TEST(Thread, move_off_this_cpu_when_a_thread_may_not_use_all_then_neither_afterwards) {
  const RivalThread rival;  // it may use one
  move_off_this_cpu(rival.number());
  EXPECT_EQ(CpuSet::of(rival.number()), CpuSet(Cpus{RivalThread::here()}));
}

TEST(Thread, move_off_this_cpu_when_there_is_no_such_thread_then_nothing) {
  const CpuSet before;
  move_off_this_cpu(std::numeric_limits<pid_t>::max());
  EXPECT_EQ(CpuSet(), before);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
