#include "../workloads/grid.hpp"

#include <gtest/gtest.h>

namespace {

using bench::Grid;
using Clock = Grid::Clock;

TEST(Grid, due_when_the_thread_was_busy_then_the_point_however_late_it_is) {
  Grid grid(Clock::now() - std::chrono::hours(1), std::chrono::microseconds(200));
  for (int index = 0; index < 3; ++index) {
    grid.wait_for(index);
    EXPECT_EQ(grid.due(index), grid.point(0) + index * std::chrono::microseconds(200));
  }
}

TEST(Grid, due_when_the_thread_slept_then_when_it_awoke) {
  Grid grid(Clock::now(), std::chrono::milliseconds(1));
  int index = 0;
  // Until it did sleep, which a busy machine may put off.
  while (index < 10'000 && grid.due(index) == grid.point(index)) grid.wait_for(++index);
  EXPECT_GT(grid.due(index), grid.point(index));
  EXPECT_LE(grid.due(index), Clock::now());
}

}  // namespace
