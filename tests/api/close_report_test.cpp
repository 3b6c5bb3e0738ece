// Rule: LIF-1: what a close with a deadline reports of an agent that goes on: a task that still runs has not run.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <thread>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::Gate;

class Lif1Report : public testing::Test {
 protected:
  /// A task that says when it runs, and ends when it is let go.
  auto held(const Gate& end, Gate& runs) {
    return [&end, &runs] {
      runs.open();
      end.wait();
    };
  }
  /// Returns once a close on another thread has begun.
  static void await_close(const Scheduler& scheduler) {
    while (scheduler.post([] {}, {.priority = TaskPriority::background})) {
      std::this_thread::yield();
    }
  }

  Gate first_runs;
  Gate first_ends;
  Gate second_runs;
  Gate second_ends;
};

// However late the second task begins: it has not ended at the deadline.
TEST_F(Lif1Report, close_when_a_task_that_began_after_it_still_runs_then_it_is_not_counted_as_run) {
  Agent agent;
  const Scheduler scheduler = agent.scheduler();
  scheduler.post(held(first_ends, first_runs));
  const auto second = scheduler.post_task(held(second_ends, second_runs));
  first_runs.wait();
  CloseReport report;
  std::thread closer([&] { report = agent.close(CloseMode::drain_until(Clock::now() + 100ms)); });
  await_close(scheduler);
  first_ends.open();
  closer.join();
  EXPECT_EQ(report.ran, 0U);
  EXPECT_EQ(report.still_running, 1U);
  second_ends.open();
}

}  // namespace
}  // namespace heist
