#include "../../subjects/handoff_queue.hpp"

#include <gtest/gtest.h>

namespace {

using bench::HandoffQueue;

/// A task that posts itself again, for ever.
struct Again {
  HandoffQueue& queue;
  int& ran;
  int& wakes;
  void operator()() const {
    ++ran;
    wakes += queue.push(*this) ? 1 : 0;
  }
};

TEST(HandoffQueue, run_when_tasks_post_then_runs_many_and_leaves_the_rest_to_a_wake_up) {
  HandoffQueue queue;
  int ran = 0;
  int wakes = 0;
  EXPECT_TRUE(queue.push(Again{queue, ran, wakes}));
  queue.run();
  EXPECT_GT(ran, 1);
  EXPECT_EQ(wakes, ran) << "the last one was announced, too";
  const int before = ran;
  queue.run();
  EXPECT_GT(ran, before);
}

}  // namespace
