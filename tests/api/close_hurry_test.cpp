// Rule: LIF-1: a later close that asks for less time, or for none, hurries an earlier one.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <heist/heist.hpp>
#include <thread>

#include "api/probes.hpp"
#include "support/close_modes.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::Gate;

/// An agent, and a close of it on another thread.
class Lif1HurriedAgent : public testing::Test {
 protected:
  ~Lif1HurriedAgent() override {
    if (!ends.is_open()) ends.open();
    if (closer.joinable()) closer.join();
  }

  /// Returns once a close with this mode has begun.
  void close_elsewhere(const CloseMode& mode) {
    closer = std::thread([this, mode] {
      report = agent.close(mode);
      has_returned.open();
    });
    while (scheduler.post([] {}, {.priority = TaskPriority::background})) {
      ++taken;
      std::this_thread::yield();
    }
  }
  void run_until_end() {
    scheduler.post([this] {
      runs.open();
      ends.wait();
    });
    runs.wait();
    ++taken;
  }

  Gate runs;
  Gate ends;
  Gate has_returned;
  CloseReport report;
  std::uint64_t taken = 0;  ///< tasks that do not end before they are let to
  Agent agent;
  Scheduler scheduler = agent.scheduler();
  std::thread closer;
};

// A second SIGTERM.
TEST_F(Lif1HurriedAgent, close_when_a_later_deadline_is_now_then_both_return_while_a_task_runs) {
  run_until_end();
  std::atomic<bool> ran{false};
  scheduler.post([&ran] { ran = true; });
  ++taken;
  close_elsewhere(CloseMode::drain());
  const auto second =
      test::close_in_time(agent, support::deadline_is_now(), [this] { ends.open(); });
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(sum_of(*second), taken);
  EXPECT_TRUE(has_returned.opens());
  EXPECT_FALSE(ends.is_open());
  closer.join();
  EXPECT_EQ(report.still_running, 1U);
  ends.open();
  EXPECT_EQ(agent.close(CloseMode::drain()), (CloseReport{.ran = 1, .aborted = taken - 1}));
  EXPECT_FALSE(ran.load());
}

TEST_F(Lif1HurriedAgent, close_when_it_waits_for_a_far_delay_and_a_later_one_aborts_then_both_end) {
  scheduler.post([] {}, {.delay = 1h});
  ++taken;
  close_elsewhere(support::drain_all());
  const CloseReport second = agent.close(CloseMode::abort());
  EXPECT_GE(second.aborted, 1U);  // what was posted to see the close begin may not have run, either
  EXPECT_LE(second.ran + second.aborted, taken);  // some had ended before the close
  EXPECT_TRUE(has_returned.opens());
}

// The time that was asked for first stays.
TEST_F(Lif1HurriedAgent, close_when_a_later_one_asks_for_less_then_nothing_changes) {
  run_until_end();
  std::atomic<bool> ran{false};
  const auto queued = scheduler.post_task([&ran] { ran = true; });
  agent.close(support::deadline_is_now());
  close_elsewhere(CloseMode::drain());
  ends.open();
  EXPECT_TRUE(has_returned.opens());
  EXPECT_FALSE(ran.load());
}

TEST(Lif1HurriedLoop, close_when_another_thread_aborts_then_the_drivers_close_ends) {
  EventLoop loop;
  const auto promise = loop.scheduler().post_task([] {}, {.delay = 1h});
  Gate has_begun;
  loop.scheduler().post([&] { has_begun.open(); });
  std::thread other([&] {
    has_begun.wait();
    EXPECT_LE(loop.close(CloseMode::abort()).still_running, 1U);  // the task that has opened it
  });
  const CloseReport report = loop.close(support::drain_all());
  other.join();
  EXPECT_EQ(report, (CloseReport{.ran = 1, .aborted = 1}));
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

TEST(Lif1HurriedLoop, close_when_one_of_its_tasks_aborts_then_the_rest_never_starts) {
  EventLoop loop(test::on_virtual_clock());
  std::optional<CloseReport> within;
  loop.scheduler().post([&] { within = loop.close(CloseMode::abort()); });
  loop.scheduler().post([] { ADD_FAILURE() << "it ran"; });
  EXPECT_EQ(loop.close(CloseMode::drain()), (CloseReport{.ran = 1, .aborted = 1}));
  EXPECT_EQ(within, (CloseReport{.not_started = 1, .still_running = 1}));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
