#include "../workloads/batch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "../../pool_completion.hpp"

namespace {

using bench::completion_of;
using bench::make_payload;
using bench::PoolCompletion;

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

/// Each on a thread of its own.
void run_in_pool(PoolCompletion& done, const std::array<int, 3>& numbers) {
  std::array<std::thread, 3> threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread(make_payload<16>(done, numbers[i]));
  }
  for (auto& thread : threads) thread.join();
}

TEST(PoolCompletion, wait_when_each_task_ran_somewhere_then_passes) {
  auto done = completion_of<16, PoolCompletion>(3);
  run_in_pool(done, {2, 0, 1});
  done.wait();
}

TEST(PoolCompletionDeathTest, wait_when_a_task_ran_twice_then_ends_the_program) {
  auto done = completion_of<16, PoolCompletion>(3);
  run_in_pool(done, {0, 1, 1});
  EXPECT_DEATH(done.wait(), "wrong sum: 2 instead of 3");
}

}  // namespace
