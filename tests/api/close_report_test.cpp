// Rule: LIF-1: what a close with a deadline reports of an agent that goes on: a task that still
//         runs has not run.
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
  EXPECT_EQ(report.ran, 1U);  // the first
  EXPECT_EQ(report.still_running, 1U);
  second_ends.open();
}

// What was "4 ran, 2 running" of fifty. Others have posted them, the task itself, some are delayed.
TEST_F(Lif1Report, close_when_a_task_outlasts_the_deadline_then_what_stands_behind_it_is_counted) {
  Agent agent;
  const Scheduler scheduler = agent.scheduler();
  scheduler.post([&] {
    for (int i = 0; i < 5; ++i) scheduler.post([] {});
    held(first_ends, first_runs)();
  });
  first_runs.wait();
  for (int i = 0; i < 20; ++i) {
    scheduler.post([] {});
    static_cast<void>(scheduler.post_task([] {}, {.delay = 1h}));
  }
  EXPECT_EQ(agent.close(CloseMode::drain_until(Clock::now())),
            (CloseReport{.not_started = 45, .still_running = 1}));
  first_ends.open();
  EXPECT_EQ(agent.close(CloseMode::drain()), (CloseReport{.ran = 1, .aborted = 45}));
}

// A property: whatever is asked for when, each task that was taken is told of once.
TEST_F(Lif1Report, close_when_at_any_time_then_all_that_was_posted_is_told_of) {
  for (std::uint64_t round = 0; round < 60; ++round) {
    Gate runs;
    Gate ends;
    Agent agent;
    const Scheduler scheduler = agent.scheduler();
    scheduler.post(held(ends, runs));
    runs.wait();
    std::uint64_t taken = 1;
    for (std::uint64_t i = 0; i < 40; ++i) {
      PostTaskOptions options{.priority = static_cast<TaskPriority>(i % 3)};
      if (i % 5 == 4) options.delay = std::chrono::microseconds(100 * (i * round % 40));
      const auto work = [until = Clock::now() + std::chrono::microseconds(round)] {
        while (Clock::now() < until) {
        }
      };
      taken += scheduler.post(work, options) ? 1U : 0U;
    }
    auto mode = CloseMode::drain_until(Clock::now() + std::chrono::microseconds(round * 20));
    mode.wait_for_delayed = round % 2 == 0;
    std::uint64_t late = 0;  // posted while the close begins
    std::thread other([&] {
      while (scheduler.post([] {}, {.priority = TaskPriority::background})) ++late;
      if (round % 3 == 0) agent.close(CloseMode::drain_until(Clock::now()));
      ends.open();
    });
    const CloseReport first = agent.close(mode);
    other.join();
    EXPECT_GE(sum_of(first), taken) << "round " << round;
    taken += late;
    EXPECT_LE(sum_of(first), taken) << "round " << round;
    const CloseReport last = agent.close(CloseMode::drain());
    EXPECT_EQ(sum_of(last), taken) << "round " << round;
    EXPECT_EQ(last.not_started + last.still_running, 0U) << "round " << round;
  }
}

}  // namespace
}  // namespace heist
