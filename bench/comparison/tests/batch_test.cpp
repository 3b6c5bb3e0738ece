#include "../workloads/batch.hpp"

#include <gtest/gtest.h>

namespace {

using bench::completion_of;
using bench::make_payload;

TEST(Batch, wait_when_each_task_ran_then_passes) {
  auto done = completion_of<16>(3);
  for (const int number : {2, 0, 1}) make_payload<16>(done, number)();
  done.wait();
}

TEST(BatchDeathTest, wait_when_a_task_ran_twice_in_anothers_place_then_ends_the_program) {
  auto done = completion_of<40>(3);
  for (const int number : {0, 1, 1}) make_payload<40>(done, number)();
  EXPECT_DEATH(done.wait(), "wrong sum: 2 instead of 3");
}

}  // namespace
