// Rules: DLY-1, DLY-3…5, in a cluster: no delay is an agent's hostage.
#include "cluster/cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::ElementsAre;

class ClusterDelay : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterDelay, sizes, size_name);
class ClusterDelayFree : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterDelayFree, several_agents, size_name);

// Rule: DLY-1
TEST_P(ClusterDelay, post_task_when_delayed_then_runs_never_early) {
  for (const auto delay : {1us, 1000us, 2500us}) {
    const auto posted = Clock::now();
    const auto promise =
        scheduler().post_task(tracked([] { return Clock::now(); }), {.delay = delay});
    ASSERT_TRUE(settles(promise));
    EXPECT_GE(promise.get() - posted, delay);
  }
}

// Rule: DLY-3
TEST_P(ClusterDelay, post_task_when_the_delay_is_not_positive_then_runs_in_its_turn) {
  const auto zero = scheduler().post_task([] { return 1; }, {.delay = 0ms});
  const auto negative = scheduler().post_task([] { return 2; }, {.delay = -1h});
  EXPECT_TRUE(settles(zero));
  EXPECT_TRUE(settles(negative));
}

// Rule: DLY-3
TEST_P(ClusterDelay,
       post_task_when_beyond_the_clock_then_never_fires_and_is_rejected_by_the_close) {
  const auto never = scheduler().post_task(note("ran"), {.delay = Delay::never()});
  const auto far = scheduler().post_task(note("ran"), {.delay = std::chrono::hours::max()});
  ASSERT_TRUE(settles(scheduler().post_task([] {}, {.delay = 2ms})));
  EXPECT_FALSE(never.settled());
  cluster().close(CloseMode::abort());
  EXPECT_TRUE(test::is<AbortError>(never.reason()));
  EXPECT_TRUE(test::is<AbortError>(far.reason()));
}

TEST_P(ClusterDelay, post_task_when_shorter_ones_come_later_then_they_fire_first) {
  HeldAgents held(cluster());
  const auto start = Clock::now();
  const auto last = scheduler().post_task(note("last"), {.delay = 12ms});
  scheduler().post(note("second"), {.delay = 6ms});
  scheduler().post(note("first"), {.delay = 1ms});
  held.let_go(0);
  ASSERT_TRUE(settles(last));
  const auto order = trace.take();
  if (Clock::now() - start < 12ms) return;  // the machine was slow: they may have come up together
  EXPECT_EQ(order.size(), 3U);
}

TEST_P(ClusterDelay, post_task_when_all_sleep_until_a_far_delay_then_a_near_one_wakes_an_agent) {
  scheduler().post(note("far"), {.delay = 1h});
  fall_asleep();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(settles(scheduler().post_task([] {}, {.delay = 1ms})));
}

TEST_P(ClusterDelay, post_task_when_thousands_are_delayed_then_each_runs_once) {
  constexpr int count = 3000;
  std::vector<std::atomic<int>> runs(count);
  Countdown left(count);
  for (int i = 0; i < count; ++i) {
    auto& run = runs[static_cast<std::size_t>(i)];
    scheduler().post([&] { ++run, left.done(); },
                     {.delay = std::chrono::microseconds(i * 13 % 5000)});
  }
  EXPECT_TRUE(left.ends());
  for (const auto& run : runs) EXPECT_EQ(run.load(), 1);
}

// Rule: DLY-4
TEST_P(ClusterDelay, set_priority_when_during_the_delay_then_decides_where_it_goes) {
  TaskController controller(background);
  HeldAgents held(cluster());
  scheduler().post(note("dynamic"), {.signal = controller.signal(), .delay = 1ms});
  controller.set_priority(user_blocking);
  const auto due = Clock::now() + 3ms;
  const auto last = scheduler().post_task(note("visible"));
  wait_until([&] { return Clock::now() > due; });  // so that it is due when the agent is free
  held.let_go(0);
  ASSERT_TRUE(settles(last));
  EXPECT_THAT(trace.take(), ElementsAre("dynamic", "visible"));
}

// Rule: DLY-5
TEST_P(ClusterDelayFree, delay_when_the_agent_that_armed_it_is_busy_then_it_fires_elsewhere) {
  for (int round = 0; round < 10; ++round) {
    fall_asleep();
    test::Gate fired;
    const auto busy = scheduler().post_task([&] {
      scheduler().post([&] { fired.open(); }, {.delay = 1ms});
      return fired.opens();
    });
    ASSERT_TRUE(settles(busy));
    EXPECT_TRUE(busy.get());
  }
}

// Rule: DLY-5: whichever agent is the busy one.
TEST_P(ClusterDelayFree, delay_when_one_agent_is_free_then_it_fires) {
  for (unsigned free = 0; free < size(); ++free) {
    HeldAgents held(cluster());
    held.let_go(free);
    for (int i = 0; i < 3; ++i) {
      const auto promise =
          scheduler().post_task([this] { return agent_here(cluster()); }, {.delay = 1ms});
      ASSERT_TRUE(settles(promise));
      EXPECT_EQ(promise.get(), free);
    }
  }
}

// Rule: DLY-5: the agent that watched the delay is taken by something else, in its own queues or
//         its microtasks.
TEST_P(ClusterDelayFree, delay_when_the_watching_agent_gets_a_bound_task_then_it_fires_elsewhere) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    test::Gate fired;
    scheduler().post([&] { fired.open(); }, {.delay = 20ms});
    fall_asleep();
    const auto busy = bound(agent).post_task([&] { return fired.opens(); });
    ASSERT_TRUE(settles(busy));
    EXPECT_TRUE(busy.get());
  }
}

Promise<bool> wait_behind(Promise<void> start, const test::Gate& gate) {
  co_await start;
  co_return gate.opens();
}

TEST_P(ClusterDelayFree, delay_when_the_watching_agent_gets_a_microtask_then_it_fires_elsewhere) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    test::Gate fired;
    const auto start = later<void>();
    const auto busy = bound(agent).post_task([&] { return wait_behind(start.promise, fired); });
    scheduler().post([&] { fired.open(); }, {.delay = 20ms});
    fall_asleep();
    start.resolve();
    ASSERT_TRUE(settles(busy));
    EXPECT_TRUE(busy.get());
  }
}

// Rule: CLU-3: what is posted while an agent is in a microtask.
TEST_P(ClusterDelayFree, post_when_an_agent_was_woken_into_a_microtask_then_another_one_runs_it) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    test::Gate ran;
    test::Gate in_microtask;
    const auto start = later<void>();
    const auto busy = bound(agent).post_task([&] {
      return start.promise.then([&] {
        in_microtask.open();
        return ran.opens();
      });
    });
    fall_asleep();
    start.resolve();
    in_microtask.wait();
    scheduler().post([&] { ran.open(); });
    ASSERT_TRUE(settles(busy));
    EXPECT_TRUE(busy.get());
  }
}

// Rule: CLU-3: the same, in the destructor of an aborted callback.
TEST_P(ClusterDelayFree,
       post_when_an_agent_was_woken_to_destroy_a_callback_then_another_one_runs_it) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    test::Gate ran;
    test::Gate in_destructor;
    test::Gate done;
    bool has_run = false;
    AbortController controller;
    bound(agent).post([end = AtDestruction([&] {
                         in_destructor.open();
                         has_run = ran.opens();
                         done.open();
                       })] {},
                      {.signal = controller.signal(), .delay = 1h});
    fall_asleep();
    controller.abort();
    in_destructor.wait();
    scheduler().post([&] { ran.open(); });
    done.wait();
    EXPECT_TRUE(has_run);
  }
}

// Rule: CLU-4: nobody's code has to be run for it, and nothing is late.
TEST_P(ClusterDelayFree, timeout_when_dropped_by_another_thread_while_all_sleep_then_nobody_wakes) {
  auto timeout = std::make_optional(AbortSignal::timeout(scheduler(), 1h));
  fall_asleep();
  const auto before = cluster().stats().wakeups_sent;
  timeout.reset();
  EXPECT_EQ(cluster().stats().wakeups_sent, before);
}

// Rule: ABT-5: what was dropped does not wait in memory without a bound.
TEST_P(ClusterDelayFree, timeouts_when_many_are_dropped_while_all_sleep_then_an_agent_wakes) {
  std::vector<AbortSignal> timeouts;
  for (int i = 0; i < 64; ++i) timeouts.push_back(AbortSignal::timeout(scheduler(), 1h));
  fall_asleep();
  const auto before = cluster().stats().wakeups_sent;
  timeouts.clear();
  EXPECT_EQ(cluster().stats().wakeups_sent, before + 1);
}

}  // namespace
}  // namespace heist::support
