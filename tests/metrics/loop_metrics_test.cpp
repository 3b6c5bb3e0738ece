#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <stdexcept>
#include <thread>

#include "support/priorities.hpp"
#include "support/runtime_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

EventLoopOptions on_virtual_clock(std::uint32_t sample_every) {
  EventLoopOptions options;
  options.clock = LoopClock::virtual_time;
  options.sample_every = sample_every;
  return options;
}

/// A loop of which each task is measured, on a virtual clock.
class LoopMetricsTest : public RuntimeFixture {
 protected:
  [[nodiscard]] LevelMetrics level(TaskPriority priority, bool is_continuation = false) const {
    return loop_.metrics().levels.of(priority, is_continuation);
  }
  /// Posts from within a task, so that the agent knows of it at once.
  template <class Post>
  void post_in_task(Post post) {
    scheduler_.post(post, {.priority = user_blocking});
    loop_.run_one();
  }

  EventLoop loop_{on_virtual_clock(1)};
  Scheduler scheduler_ = loop_.scheduler();
};

// Rule: MET-1
TEST_F(LoopMetricsTest, metrics_when_tasks_wait_and_run_then_each_counts_at_its_level) {
  post_in_task([this] {
    scheduler_.post([] {}, {.priority = background});
    scheduler_.post([] {}, {.priority = background});
    scheduler_.post([] {});
  });
  EXPECT_EQ(level(background).waiting, 2U);
  EXPECT_EQ(level(background).posted, 2U);
  EXPECT_EQ(level(background).run, 0U);
  EXPECT_EQ(level(user_visible).waiting, 1U);
  EXPECT_EQ(level(user_blocking).run, 1U);
  loop_.run_until_idle();
  EXPECT_EQ(level(background).waiting, 0U);
  EXPECT_EQ(level(background).run, 2U);
  EXPECT_EQ(level(background).posted, 2U);
  EXPECT_EQ(loop_.metrics().tasks_run, 4U);
}

// Rule: MET-1
TEST_F(LoopMetricsTest, metrics_when_other_threads_have_posted_then_arriving) {
  std::thread([this] { scheduler_.post([] {}); }).join();
  EXPECT_TRUE(loop_.metrics().has_arriving);
  loop_.run_until_idle();
  EXPECT_FALSE(loop_.metrics().has_arriving);
  EXPECT_EQ(level(user_visible).run, 1U);
}

// Rule: MET-1
TEST_F(LoopMetricsTest, metrics_when_waiting_task_is_aborted_then_aborted_and_not_run) {
  AbortController controller;
  post_in_task([&] { scheduler_.post([] {}, {.signal = controller.signal()}); });
  controller.abort();
  loop_.run_until_idle();
  EXPECT_EQ(level(user_visible).aborted, 1U);
  EXPECT_EQ(level(user_visible).run, 0U);
  EXPECT_EQ(level(user_visible).posted, 1U);
  EXPECT_EQ(level(user_visible).waiting, 0U);
}

// Rule: MET-1
TEST_F(LoopMetricsTest, metrics_when_loop_is_closed_then_what_it_dropped_is_rejected) {
  post_in_task([&] {
    scheduler_.post([] {});
    scheduler_.post([] {}, {.delay = 1h});
  });
  EXPECT_EQ(loop_.metrics().delayed, 1U);
  loop_.close(CloseMode::abort());
  EXPECT_EQ(level(user_visible).oldest_waiting, std::nullopt);
  EXPECT_FALSE(scheduler_.post([] {}));
  EXPECT_EQ(level(user_visible).oldest_waiting, std::nullopt);
  EXPECT_EQ(level(user_visible).rejected, 1U);
  EXPECT_EQ(level(user_visible).waiting, 0U);
  EXPECT_EQ(loop_.metrics().rejected, 2U);
}

// Rule: MET-1
TEST_F(LoopMetricsTest, metrics_when_signal_changes_priority_then_first_task_counts_at_its_level) {
  TaskController controller(background);
  post_in_task([&] {
    scheduler_.post([] {}, {.signal = controller.signal()});
    scheduler_.post([] {}, {.signal = controller.signal()});
  });
  EXPECT_EQ(level(background).waiting, 2U);
  controller.set_priority(user_blocking);
  loop_.run_one();
  EXPECT_EQ(level(user_blocking).run, 2U);
  EXPECT_EQ(level(user_blocking).waiting, 1U);
  loop_.run_until_idle();
  EXPECT_EQ(level(user_blocking).run, 3U);
  EXPECT_EQ(level(user_blocking).waiting, 0U);
  EXPECT_EQ(level(background).posted, 0U);
}

// Rule: MET-1
TEST_F(LoopMetricsTest, metrics_when_scheduler_is_suspended_then_its_tasks_wait_for_it) {
  const Scheduler other = loop_.create_scheduler();
  post_in_task([&] { other.post([] {}); });
  other.suspend();
  loop_.run_until_idle();
  EXPECT_EQ(level(user_visible).waiting, 0U);
  EXPECT_EQ(level(user_visible).run, 0U);
  EXPECT_EQ(loop_.metrics().delayed, 1U);
  other.resume();
  loop_.run_until_idle();
  EXPECT_EQ(level(user_visible).run, 1U);
  EXPECT_EQ(level(user_visible).posted, 1U);
}

Promise<void> yield_once() { co_await yield(); }

// Rule: MET-1
TEST_F(LoopMetricsTest, metrics_when_coroutine_yields_then_a_continuation_has_run) {
  const auto done = scheduler_.post_task(&yield_once);
  loop_.run_until_idle();
  EXPECT_EQ(level(user_visible, true).run, 1U);
}

// Rule: MET-2
TEST_F(LoopMetricsTest, wait_time_when_task_waits_for_another_one_then_as_long_as_that_ran) {
  scheduler_.post([this] { loop_.spend(10ms); });
  scheduler_.post([] {});
  loop_.run_until_idle();
  const Histogram waits = level(user_visible).wait_time;
  ASSERT_EQ(waits.count(), 2U);
  EXPECT_GE(waits.quantile(1), 10ms);
  EXPECT_LE(waits.quantile(1), 11'250us);
  EXPECT_EQ(waits.sum(), 10ms);
  EXPECT_EQ(level(user_visible).run_time.sum(), 10ms);
}

// Rule: MET-2
TEST_F(LoopMetricsTest, wait_time_when_task_was_delayed_then_from_the_end_of_its_delay) {
  scheduler_.post([] {}, {.delay = 5ms});
  scheduler_.post([this] { loop_.spend(7ms); });
  loop_.run_until_idle();
  loop_.advance(1ms);
  EXPECT_EQ(level(user_visible).wait_time.count(), 2U);
  EXPECT_LE(level(user_visible).wait_time.sum(), 1ms);
}

// Rule: MET-2
TEST_F(LoopMetricsTest, run_time_when_microtasks_follow_then_they_belong_to_the_task) {
  scheduler_.post([this] { queue_microtask([this] { loop_.spend(3ms); }); });
  loop_.run_until_idle();
  EXPECT_EQ(level(user_visible).run_time.sum(), 3ms);
}

// Rule: MET-2
TEST_F(LoopMetricsTest, run_time_when_time_limit_ends_within_a_slice_then_the_slice_is_measured) {
  CooperativeScheduler slices(scheduler_);
  const AbortSignal limit = AbortSignal::timeout(scheduler_, 1ms);
  bool is_over = false;
  bool was_over = false;
  const Subscription subscription = limit.on_abort([&is_over] { is_over = true; });
  slices.schedule_callback(CooperativePriority::normal, [this] { loop_.spend(2ms); });
  slices.schedule_callback(CooperativePriority::normal, [&] {
    was_over = is_over;
    loop_.spend(1ms);
  });
  loop_.run_until_idle();
  EXPECT_TRUE(was_over);
  const LevelsMetrics levels = loop_.metrics().levels;
  std::chrono::nanoseconds measured{};
  for (std::size_t at = 0; at < levels.size(); ++at) measured += levels.at(at).run_time.sum();
  EXPECT_EQ(measured, 3ms);
}

// Rule: MET-2
TEST_F(LoopMetricsTest, oldest_waiting_when_tasks_wait_then_since_the_first_came) {
  scheduler_.post([] {}, {.priority = background});
  loop_.spend(2ms);
  scheduler_.post([] {}, {.priority = background});
  loop_.spend(1ms);
  EXPECT_EQ(level(background).oldest_waiting, 3ms);
  EXPECT_EQ(level(user_visible).oldest_waiting, std::nullopt);
  loop_.run_one();
  EXPECT_EQ(level(background).oldest_waiting, 1ms);
  loop_.run_one();
  EXPECT_EQ(level(background).oldest_waiting, std::nullopt);
}

// Rule: MET-2
TEST_F(LoopMetricsTest, oldest_waiting_when_task_is_aborted_then_it_waits_no_more) {
  AbortController controller;
  scheduler_.post([] {}, {.signal = controller.signal()});
  EXPECT_TRUE(level(user_visible).oldest_waiting);
  controller.abort();
  loop_.run_until_idle();
  EXPECT_FALSE(level(user_visible).oldest_waiting);
}

// Rule: MET-2
TEST_F(LoopMetricsTest, oldest_waiting_when_due_timeouts_are_cleared_then_they_wait_no_more) {
  post_in_task([] {
    for (int i = 0; i < 1000; ++i) {
      Timeout timeout = set_timeout([] {}, 0ms);
      EXPECT_TRUE(timeout.clear());
    }
  });
  EXPECT_EQ(level(user_visible).oldest_waiting, std::nullopt);
  EXPECT_EQ(level(user_visible).aborted, 1000U);
}

// Rule: MET-3
TEST_F(LoopMetricsTest, set_sampling_when_one_of_sixteen_then_so_many_are_measured) {
  loop_.set_sampling(16);
  constexpr unsigned tasks = 160'000;
  for (unsigned i = 0; i < tasks; ++i) {
    scheduler_.post([] {});
    scheduler_.post([] {}, {.priority = background});
    loop_.run_until_idle();
  }
  for (const TaskPriority priority : {user_visible, background}) {  // which alternate
    EXPECT_GT(level(priority).wait_time.count(), tasks / 20);
    EXPECT_LT(level(priority).wait_time.count(), tasks / 12);
    EXPECT_GT(level(priority).run_time.count(), level(priority).wait_time.count() / 5);
    EXPECT_LT(level(priority).run_time.count(), level(priority).wait_time.count() / 3);
  }
}

// Rule: MET-3
TEST_F(LoopMetricsTest,
       set_sampling_when_every_other_task_goes_to_a_loop_without_it_then_some_are) {
  for (const bool shifts : {false, true}) {  // one of the two meets each count
    EventLoop measured{on_virtual_clock(16)};
    EventLoop other{on_virtual_clock(0)};
    if (shifts) other.scheduler().post([] {});
    for (unsigned i = 0; i < 100'000; ++i) {
      other.scheduler().post([] {});
      measured.scheduler().post([] {});
      measured.run_until_idle();
    }
    EXPECT_GT(measured.metrics().levels.of(user_visible).wait_time.count(), 0U);
  }
}

// Rule: MET-3
TEST_F(LoopMetricsTest, set_sampling_when_each_thread_posts_one_task_then_some_are_measured) {
  loop_.set_sampling(16);
  constexpr unsigned threads = 256;
  for (unsigned i = 0; i < threads; ++i) std::jthread([this] { scheduler_.post([] {}); });
  loop_.run_until_idle();
  EXPECT_GT(level(user_visible).wait_time.count(), 0U);
  EXPECT_LT(level(user_visible).wait_time.count(), threads / 4);
}

// Rule: MET-3
TEST_F(LoopMetricsTest, set_sampling_when_zero_then_nothing_is_measured) {
  loop_.set_sampling(0);
  for (int i = 0; i < 100; ++i) scheduler_.post([] {});
  loop_.run_until_idle();
  EXPECT_EQ(level(user_visible).wait_time.count(), 0U);
  EXPECT_EQ(level(user_visible).run, 100U);
}

// Rule: MET-3
TEST_F(LoopMetricsTest, set_sampling_when_no_power_of_two_then_invalid_argument) {
  EXPECT_THROW(loop_.set_sampling(3), std::invalid_argument);
  EXPECT_THROW(const EventLoop loop(on_virtual_clock(12)), std::invalid_argument);
}

// Rule: MET-3
TEST_F(LoopMetricsTest, wait_time_when_more_wait_than_can_be_measured_at_once_then_others_are_not) {
  constexpr unsigned tasks = 10'000;
  for (unsigned i = 0; i < tasks; ++i) scheduler_.post([] {});
  scheduler_.post([] {}, {.priority = background});
  loop_.run_until_idle();
  EXPECT_GT(level(user_visible).wait_time.count(), 0U);
  EXPECT_LT(level(user_visible).wait_time.count(), tasks);
  EXPECT_EQ(level(background).wait_time.count(), 1U) << "each level has room of its own";
}

// Rule: MET-5
TEST_F(LoopMetricsTest, timer_lateness_when_loop_was_busy_then_by_so_much) {
  scheduler_.post([] {}, {.delay = 5ms});
  loop_.run_until_idle();
  loop_.spend(9ms);
  loop_.run_until_idle();
  const Histogram late = loop_.metrics().timer_lateness;
  ASSERT_EQ(late.count(), 1U);
  EXPECT_EQ(late.sum(), 4ms);
}

// Rule: MET-5
TEST(AgentMetrics, busy_share_when_agent_has_slept_then_below_one) {
  Agent agent;
  const auto first = agent.scheduler().post_task([] {});
  ASSERT_TRUE(first.wait_for(1min));
  while (agent.metrics().asleep < 1ms) std::this_thread::yield();
  const LoopMetrics metrics = agent.metrics();
  EXPECT_LT(metrics.busy_share(), 1);
  EXPECT_GT(metrics.age, metrics.asleep);
  EXPECT_GE(metrics.sleeps, 1U);
}

}  // namespace
}  // namespace heist::support
