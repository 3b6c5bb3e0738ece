#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class DumpTest : public ClusterFixture {
 protected:
  /// Posts a task with a label that runs until it is let go; returns once it runs.
  void hold_with_label(const Scheduler& on) {
    on.post(
        [this] {
          started_.open();
          gate_.wait();
        },
        {.label = "resize image"});
    started_.wait();
  }
  void let_go() { gate_.open(); }

 private:
  test::Gate started_;
  test::Gate gate_;
};

// Rule: MET-6
TEST_F(DumpTest, dump_when_a_task_with_a_label_runs_then_it_is_named_with_its_place) {
  start(2);
  hold_with_label(bound(1));
  const std::string text = dump(cluster());
  EXPECT_THAT(text, HasSubstr("agent heist-1 runs task \"resize image\" (dump_test.cpp:"));
  EXPECT_THAT(text, HasSubstr("agent heist-0 runs nothing"));
  let_go();
}

// Rule: MET-6
TEST_F(DumpTest, dump_when_the_task_with_a_label_has_ended_then_it_is_not_named_any_more) {
  start(2);
  let_go();
  hold_with_label(bound(1));
  ASSERT_TRUE(settles(bound(1).post_task([] {})));
  EXPECT_THAT(dump(cluster()), Not(HasSubstr("resize image")));
}

// Rule: MET-6
TEST_F(DumpTest, dump_when_tasks_wait_then_levels_signals_and_agents_are_told) {
  start(2);
  TaskController controller(background);
  HeldAgents held(cluster());
  scheduler().post([] {});
  for (int i = 0; i < 3; ++i) scheduler().post([] {}, {.signal = controller.signal()});
  bound(0).post([] {});
  const std::string text = dump(cluster());
  EXPECT_THAT(text, HasSubstr("user-visible: 1 wait"));
  EXPECT_THAT(text, HasSubstr("background: 3 wait"));
  EXPECT_THAT(text, HasSubstr("signal's queue"));
  EXPECT_THAT(text, HasSubstr("other threads have posted more to it"));
  EXPECT_THAT(text, HasSubstr("runs a task without a label"));
}

// Rule: MET-6
TEST_F(DumpTest, dump_when_loop_is_embedded_then_what_waits_there) {
  EventLoop loop;
  std::string text;
  loop.scheduler().post(
      [&] {
        loop.scheduler().post([] {}, {.priority = background});
        loop.scheduler().post([] {}, {.delay = 1h});
        text = dump(loop);
      },
      {.label = "asks itself"});
  loop.run_until_idle();
  EXPECT_THAT(text, HasSubstr("event loop runs task \"asks itself\" (dump_test.cpp:"));
  EXPECT_THAT(text, HasSubstr("background: 1 wait"));
  EXPECT_THAT(text, HasSubstr("1 tasks wait for their time"));
}

/// What a watchdog has reported.
class Reports {
 public:
  void add(const LongTask& task) {
    const std::lock_guard lock(mutex_);
    reports_.push_back(task);
  }
  [[nodiscard]] std::vector<LongTask> all() const {
    const std::lock_guard lock(mutex_);
    return reports_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<LongTask> reports_;
};

class WatchdogTest : public DumpTest {
 protected:
  [[nodiscard]] WatchdogOptions reporting(std::chrono::nanoseconds limit) {
    return {.limit = limit, .report = [this](const LongTask& task) { reports.add(task); }};
  }
  Reports reports;
};

// Rule: MET-7
TEST_F(WatchdogTest, report_when_a_task_runs_for_200_ms_then_it_is_named_once) {
  start(2);
  const Watchdog watchdog(cluster(), reporting(200ms));
  hold_with_label(bound(0));
  ASSERT_TRUE(comes_true([this] { return !reports.all().empty(); }));
  let_go();
  ASSERT_TRUE(settles(bound(0).post_task([] {})));
  const std::vector<LongTask> all = reports.all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_STREQ(all[0].label.text(), "resize image");
  EXPECT_GE(all[0].running_for, 200ms);
  EXPECT_THAT(to_string(all[0]), HasSubstr("has run task \"resize image\" (dump_test.cpp:"));
}

// Rule: MET-7
TEST_F(WatchdogTest, report_when_a_task_without_a_label_is_long_then_its_agent_and_what_waits) {
  start(2);
  const Watchdog watchdog(cluster(), reporting(5ms));
  HeldAgents held(cluster());
  held.let_go(0);
  bound(1).post([] {});
  ASSERT_TRUE(comes_true([this] {
    return std::ranges::any_of(reports.all(), [](const LongTask& t) { return t.agent == 1; });
  }));
  const LongTask task = reports.all().back();
  EXPECT_TRUE(task.label.empty());
  EXPECT_EQ(task.agent_name, "heist-1");
}

// Rule: MET-7
TEST_F(WatchdogTest, report_when_it_throws_then_the_error_hook_hears_of_it) {
  start(2);
  const Watchdog watchdog(
      cluster(), {.limit = 1ms, .report = [](const LongTask&) { throw std::runtime_error("no"); }});
  hold_with_label(bound(0));
  ASSERT_TRUE(comes_true([this] { return !errors.take().empty(); }));
  let_go();
}

TEST_F(WatchdogTest, watchdog_when_limit_is_out_of_range_then_invalid_argument) {
  start(1);
  EXPECT_THROW(const Watchdog watchdog(cluster(), {.limit = 1us}), std::invalid_argument);
  EXPECT_THROW(const Watchdog watchdog(cluster(), {.limit = 2h}), std::invalid_argument);
}

// Rule: MET-6
TEST(TaskLabels, post_when_task_has_a_label_and_is_dropped_or_aborted_then_memory_is_given_back) {
  EventLoop loop;
  const Scheduler scheduler = loop.scheduler();
  AbortController controller;
  scheduler.post([] {}, {.label = "plain"});
  scheduler.post([] {}, {.signal = controller.signal(), .label = "with a signal"});
  const auto first = scheduler.post_task([] { return 1; }, {.label = "with a promise"});
  const auto second =
      scheduler.post_task([] { return 2; }, {.signal = controller.signal(), .label = "with both"});
  EXPECT_EQ(loop.run_until_idle(), 4U);
  EXPECT_EQ(first.get() + second.get(), 3);
  scheduler.post([] {}, {.label = "plain, dropped"});
  scheduler.post([] {}, {.signal = controller.signal(), .label = "aborted"});
  const auto third = scheduler.post_task([] {}, {.signal = controller.signal(), .label = "both"});
  controller.abort();
  EXPECT_TRUE(third.settled());
}

/// A callback that must stand at a multiple of 64.
struct alignas(64) Aligned {
  std::array<char, 40> bytes{};
  int* misplaced = nullptr;

  void operator()() const {
    if (reinterpret_cast<std::uintptr_t>(this) % alignof(Aligned) != 0) ++*misplaced;
  }
};

// Rule: MET-6
TEST(TaskLabels, post_when_callback_is_aligned_to_a_cache_line_then_a_label_does_not_change_that) {
  EventLoop loop;
  const Scheduler scheduler = loop.scheduler();
  const AbortController controller;
  int misplaced = 0;
  std::vector<Promise<void>> promises;
  std::vector<LendingPromise<void>> lending;
  for (int i = 0; i < 100; ++i) {
    scheduler.post(Aligned{.misplaced = &misplaced}, {.label = "plain"});
    scheduler.post(Aligned{.misplaced = &misplaced},
                   {.signal = controller.signal(), .label = "with a signal"});
    promises.push_back(
        scheduler.post_task(Aligned{.misplaced = &misplaced}, {.label = "with a promise"}));
    promises.push_back(scheduler.post_task(Aligned{.misplaced = &misplaced},
                                           {.signal = controller.signal(), .label = "with both"}));
    lending.push_back(
        post_with_lending(scheduler, Aligned{.misplaced = &misplaced}, {.label = "lent to"}));
  }
  EXPECT_EQ(loop.run_until_idle(), 500U);
  EXPECT_EQ(misplaced, 0);
}

}  // namespace
}  // namespace heist::support
