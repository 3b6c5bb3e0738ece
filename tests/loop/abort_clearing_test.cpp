// What becomes of aborted tasks: who destroys their callbacks, when, and what is left.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "support/pool_memory.hpp"
#include "support/posted_from.hpp"
#include "support/sleeping_agent.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class Abt4 : public VirtualLoopFixture {
 protected:
  void post_many(int count, const PostTaskOptions& options) {
    for (int i = 0; i < count; ++i) post("never", options);
  }

  AbortController controller;
};

// Rule: ABT-4
TEST_F(Abt4, abort_when_called_then_callbacks_live_until_the_next_pick) {
  post("never", {.signal = controller.signal()});
  post("never", {.signal = controller.signal(), .delay = 1h});
  arrive();
  controller.abort();
  EXPECT_EQ(callbacks.alive(), 2);
  EXPECT_EQ(loop.poll(), 0U);
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: ABT-4
TEST_F(Abt4, abort_when_on_another_thread_then_callbacks_are_destroyed_on_the_agent) {
  loop.needs_driver();
  std::vector<std::thread::id> destroyed_on;
  for (const Delay delay : {Delay(), Delay(1h), Delay::never()}) {
    scheduler.post(
        [end = AtDestruction([&] { destroyed_on.push_back(std::this_thread::get_id()); })] {},
        {.signal = controller.signal(), .delay = delay});
    arrive();
  }
  on_thread([&] { controller.abort(); });
  EXPECT_THAT(destroyed_on, ElementsAre());
  loop.run_until_idle();
  EXPECT_THAT(destroyed_on, testing::Each(std::this_thread::get_id()));
  EXPECT_EQ(destroyed_on.size(), 3U);
}

/// The parameter is how many tasks are aborted.
class Abt4Clearing : public Abt4, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Counts, Abt4Clearing, testing::Values(1, 2, 31, 32, 33, 64, 65, 1000));

// Rule: ABT-4
TEST_P(Abt4Clearing, run_until_idle_when_only_aborted_tasks_are_queued_then_none_is_left) {
  post_many(GetParam(), {.signal = controller.signal()});
  arrive();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: ABT-4
TEST_P(Abt4Clearing, run_until_idle_when_the_aborted_tasks_were_on_their_way_then_none_is_left) {
  post_many(GetParam(), {.signal = controller.signal()});
  controller.abort();
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: ABT-4
TEST_P(Abt4Clearing,
       WPT_DLY_06_run_until_idle_when_the_aborted_tasks_were_delayed_then_none_is_left) {
  post_many(GetParam(), {.signal = controller.signal(), .delay = 1h});
  post_many(GetParam(), {.signal = controller.signal(), .delay = Delay::never()});
  arrive();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: ABT-4
TEST_P(Abt4Clearing, agent_when_it_goes_to_sleep_then_no_aborted_callback_is_left) {
  SleepingAgent agent;
  Gate busy;
  Gate aborted;
  std::uint64_t sleeps = 0;
  agent.scheduler().post([&] {
    for (int i = 0; i < GetParam(); ++i) {
      agent.scheduler().post(tracked([] {}), {.signal = controller.signal()});
    }
    sleeps = agent.stats().sleeps;
    busy.open();
    aborted.wait();
  });
  busy.wait();
  controller.abort();
  aborted.open();
  wait_until([&] { return agent.stats().sleeps > sleeps; });
  EXPECT_EQ(callbacks.alive(), 0);
}

/// How many aborted callbacks one pick may destroy while something is runnable.
constexpr int largest_portion = 100;

/// Picks tasks that are runnable all the time; how many callbacks the busiest pick destroyed.
class Abt4Portions : public Abt4 {
 protected:
  static constexpr int aborted_count = 1000;

  long most_destroyed_by_a_pick() {
    const LiveCount& aborted = callbacks;
    long most = 0;
    for (int i = 0; i < aborted_count; ++i) scheduler.post([] {}, {.priority = user_blocking});
    while (aborted.alive() != 0) {
      const long before = aborted.alive();
      if (!loop.run_one()) break;
      most = std::max(most, before - aborted.alive());
    }
    return most;
  }
};

// Rule: ABT-4
TEST_F(Abt4Portions, abort_when_a_thousand_are_queued_and_others_run_then_cleared_in_portions) {
  post_many(aborted_count, {.signal = controller.signal()});
  arrive();
  controller.abort();
  EXPECT_LE(most_destroyed_by_a_pick(), largest_portion);
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_GT(loop.pending(), 0U) << "they outlasted what was runnable";
  loop.run_until_idle();
}

// Rule: ABT-4
TEST_F(Abt4Portions, abort_when_a_thousand_are_delayed_and_others_run_then_cleared_in_portions) {
  post_many(aborted_count, {.signal = controller.signal(), .delay = 1h});
  arrive();
  controller.abort();
  EXPECT_LE(most_destroyed_by_a_pick(), largest_portion);
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: ABT-4
TEST_F(Abt4Portions, abort_when_a_thousand_are_on_their_way_and_others_run_then_in_portions) {
  post_many(aborted_count, {.signal = controller.signal()});
  controller.abort();
  EXPECT_LE(most_destroyed_by_a_pick(), largest_portion);
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: ABT-4
TEST_F(Abt4Portions, abort_when_they_were_next_to_run_and_others_run_then_cleared_in_portions) {
  post_many(aborted_count, {.signal = controller.signal(), .priority = user_blocking});
  arrive();
  controller.abort();
  EXPECT_LE(most_destroyed_by_a_pick(), largest_portion);
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: ABT-4, ORD-2
TEST_F(Abt4, clearing_when_a_callbacks_destructor_posts_then_the_task_runs) {
  for (const Delay delay : {Delay(), Delay(1h)}) {
    scheduler.post([end = AtDestruction([&] { post("last words"); })] {},
                   {.signal = controller.signal(), .delay = delay});
  }
  arrive();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("last words", "last words"));
}

// Rule: ABT-4
TEST_F(Abt4, clearing_when_a_callbacks_destructor_aborts_another_signal_then_that_one_goes_too) {
  AbortController other;
  scheduler.post([end = AtDestruction([&] { other.abort(); })] {}, {.signal = controller.signal()});
  post("never", {.signal = other.signal()});
  post("never", {.signal = other.signal(), .delay = 1h});
  arrive();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
}

class Abt4Asleep : public testing::Test {
 protected:
  void post_delayed(int count) {
    for (int i = 0; i < count; ++i) {
      agent.scheduler().post(callbacks.track([] {}), {.signal = controller.signal(), .delay = 1h});
    }
  }

  LiveCount callbacks;
  AbortController controller;
  SleepingAgent agent;
};

// Rule: ABT-4
TEST_F(Abt4Asleep, abort_when_the_agent_sleeps_then_it_is_woken_once_and_clears_all) {
  post_delayed(200);
  agent.fall_asleep();
  const auto wakeups = agent.stats().wakeups_sent;
  controller.abort();
  wait_until([&] { return callbacks.alive() == 0; });
  EXPECT_EQ(agent.stats().wakeups_sent, wakeups + 1);
}

// Rule: ABT-4
TEST_F(Abt4Asleep, abort_when_the_signal_has_no_unstarted_task_there_then_it_sleeps_on) {
  agent.scheduler().post_task([] {}, {.signal = controller.signal()}).get();
  agent.fall_asleep();
  const auto wakeups = agent.stats().wakeups_sent;
  controller.abort();
  EXPECT_EQ(agent.stats().wakeups_sent, wakeups);
}

class Abt5 : public VirtualLoopFixture {
 protected:
#if defined(HEIST_SANITIZER_THREAD) || defined(HEIST_SANITIZER_ADDRESS)
  static constexpr int rounds = 1000;
#else
  static constexpr int rounds = 10'000;
#endif
  static constexpr int tasks_a_round = 100;

  /// Runs the rounds; by how much the pool grew after the first hundred of them.
  std::int64_t growth(const std::function<void()>& round) {
    std::int64_t begin = 0;
    for (int i = 0; i < rounds; ++i) {
      if (i == 100) begin = held_by_pool();
      round();
    }
    return held_by_pool() - begin;
  }
  /// Runs rounds of posts, each to the end.
  std::int64_t growth_by_tasks(const std::function<void()>& post_one) {
    return growth([&] {
      for (int i = 0; i < tasks_a_round; ++i) post_one();
      loop.advance(1ms);
    });
  }

  TaskController long_lived;
};

// Rule: ABT-5
TEST_F(Abt5, WPT_SP_06_signal_when_a_million_tasks_used_it_then_memory_is_flat) {
  int ran = 0;
  EXPECT_LE(
      growth_by_tasks([&] { scheduler.post([&] { ++ran; }, {.signal = long_lived.signal()}); }),
      flat);
  EXPECT_EQ(ran, rounds * tasks_a_round);
}

// Rule: ABT-5
TEST_F(Abt5, WPT_SP_06_signal_when_many_promises_and_delays_used_it_then_memory_is_flat) {
  int i = 0;
  EXPECT_LE(growth_by_tasks([&] {
              const Delay delay = ++i % 2 == 0 ? Delay(1ms) : Delay();
              static_cast<void>(
                  scheduler.post_task([] {}, {.signal = long_lived.signal(), .delay = delay}));
            }),
            flat);
}

// Rule: ABT-5
TEST_F(Abt5, signal_when_some_of_its_tasks_wait_for_long_then_the_finished_ones_are_let_go) {
  for (int i = 0; i < 50; ++i) post("later", {.signal = long_lived.signal(), .delay = 1h});
  EXPECT_LE(growth_by_tasks([&] { scheduler.post([] {}, {.signal = long_lived.signal()}); }), flat);
  loop.advance(1h);
  EXPECT_EQ(trace.take().size(), 50U);
}

// Rule: ABT-5
TEST_F(Abt5, signal_when_listeners_come_and_go_then_memory_is_flat) {
  const auto growth_by_listeners = growth([&] {
    for (int i = 0; i < 10; ++i) {
      const auto on_abort = long_lived.signal().on_abort([] {});
      const auto on_change = long_lived.signal().on_priority_change([] {});
    }
  });
  EXPECT_LE(growth_by_listeners, flat);
}

// Rule: ABT-5
TEST_F(Abt5, scheduler_when_many_signals_come_and_go_then_memory_is_flat) {
  const auto growth_by_signals = growth([&] {
    TaskController controller(background);
    scheduler.post([] {}, {.signal = controller.signal()});
    controller.set_priority(user_visible);
    loop.run_until_idle();
    scheduler.post([] {}, {.signal = controller.signal(), .delay = 1h});
    controller.abort();
    loop.run_until_idle();
  });
  EXPECT_LE(growth_by_signals, flat);
}

}  // namespace
}  // namespace heist
