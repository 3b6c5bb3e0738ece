// Rule: SUS-1 on a cluster. A suspended stealable scheduler's tasks start on no agent, and its
//         delays stop.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <heist/heist.hpp>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "support/pool_memory.hpp"
#include "support/runtime_fixture.hpp"
#include "support/threads.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;

class Sus1Cluster : public RuntimeFixture, public testing::WithParamInterface<unsigned> {
 protected:
  /// A task that each agent runs of its own: every pick that had begun before is over then.
  void pass_all_agents() {
    for (unsigned i = 0; i < cluster.size(); ++i) pass_agent(i);
  }
  void pass_agent(unsigned index) {
    cluster.agent(index).scheduler().post_task([] {}, {.priority = TaskPriority::background}).get();
  }
  /// Posts callbacks that count, one for each of some ways to post.
  std::vector<Promise<void>> post_each_way() {
    const auto count = [this] { ran.fetch_add(1); };
    std::vector<Promise<void>> promises;
    promises.push_back(scheduler.post_task(tracked(count)));
    promises.push_back(
        scheduler.post_task(tracked(count), {.priority = TaskPriority::user_blocking}));
    promises.push_back(scheduler.post_task(tracked(count), {.signal = controller.signal()}));
    promises.push_back(scheduler.post_task(tracked(count), {.delay = 1ms}));
    promises.push_back(
        scheduler.post_task(tracked(count), {.signal = controller.signal(), .delay = 1ms}));
    return promises;
  }

  TaskController controller;
  std::atomic<int> ran{0};
  AgentCluster cluster{{.agents = GetParam()}};
  Scheduler scheduler = cluster.scheduler();
};

INSTANTIATE_TEST_SUITE_P(Agents, Sus1Cluster, testing::Values(1U, 2U, many_agents()));

TEST_P(Sus1Cluster, suspended_then_nothing_starts_and_resumed_then_all_does) {
  scheduler.suspend();
  const auto promises = post_each_way();
  pass_all_agents();
  EXPECT_EQ(ran.load(), 0);
  scheduler.resume();
  for (const auto& promise : promises) promise.get();
  EXPECT_EQ(ran.load(), 5);
}

TEST_P(Sus1Cluster, queued_before_then_the_next_pick_heeds_it) {
  std::vector<Promise<void>> promises;
  scheduler
      .post_task([&] {
        scheduler.suspend();
        promises = post_each_way();
      })
      .get();
  pass_all_agents();
  EXPECT_EQ(ran.load(), 0);
  scheduler.resume();
  for (const auto& promise : promises) promise.get();
}

TEST_P(Sus1Cluster, bound_schedulers_of_its_agents_go_on) {
  scheduler.suspend();
  const auto held = scheduler.post_task(note("held"));
  for (unsigned i = 0; i < cluster.size(); ++i) {
    EXPECT_EQ(cluster.agent(i).scheduler().post_task([] { return 7; }).get(), 7);
  }
  scheduler.resume();
  held.get();
}

TEST_P(Sus1Cluster, a_continuation_waits_too) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  const auto coroutine = [this](Promise<int> awaited) -> Promise<int> {
    const int value = co_await awaited;
    ran.fetch_add(1);
    co_return value;
  };
  const auto result =
      scheduler.post_task([&coroutine, awaited = promise] { return coroutine(awaited); });
  scheduler.post_task([] {}).get();
  scheduler.suspend();
  resolver.resolve(5);
  pass_all_agents();
  EXPECT_EQ(ran.load(), GetParam() == 1 ? 1 : 0) << "on one agent it is a reaction, and goes on";
  scheduler.resume();
  EXPECT_EQ(result.get(), 5);
}

TEST_P(Sus1Cluster, priority_changed_meanwhile_then_it_counts_afterwards) {
  scheduler.suspend();
  const auto promises = post_each_way();
  pass_all_agents();
  controller.set_priority(TaskPriority::background);
  controller.set_priority(TaskPriority::user_blocking);
  scheduler.resume();
  controller.set_priority(TaskPriority::background);
  for (const auto& promise : promises) promise.get();
}

TEST_P(Sus1Cluster, aborted_meanwhile_then_rejected_at_once_and_cleared_away) {
  scheduler.suspend();
  const auto promises = post_each_way();
  pass_all_agents();
  controller.abort();
  EXPECT_EQ(promises[2].status(), PromiseStatus::rejected);
  EXPECT_EQ(promises[4].status(), PromiseStatus::rejected);
  scheduler.resume();
  for (const int i : {0, 1, 3}) promises[static_cast<std::size_t>(i)].get();
  EXPECT_EQ(ran.load(), 3);
  wait_until([this] { return callbacks.alive() == 0; });  // agents clear them away at their picks
}

TEST_P(Sus1Cluster, aborted_during_its_delay_and_its_signal_gone_then_resumed_without_it) {
  scheduler.suspend();
  auto own = std::make_unique<TaskController>();
  const auto promise = scheduler.post_task(tracked([] {}), {.signal = own->signal(), .delay = 1ms});
  pass_all_agents();
  own->abort();
  own.reset();
  pass_all_agents();
  wait_until([this] { return callbacks.alive() == 0; });
  pass_all_agents();
  scheduler.resume();
  scheduler.post_task([] {}, {.delay = 3ms}).get();  // it would be due by now
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

TEST_P(Sus1Cluster, closed_meanwhile_then_what_is_held_rejects) {
  scheduler.suspend();
  const auto promises = post_each_way();
  pass_all_agents();
  cluster.close(CloseMode::drain());
  for (const auto& promise : promises) EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(ran.load(), 0);
}

// Rule: LIF-1
TEST_P(Sus1Cluster, closed_with_a_wait_for_delayed_ones_then_it_waits_until_resumed) {
  const Scheduler last = cluster.agent(GetParam() - 1).scheduler();
  scheduler.suspend();
  last.suspend();
  const auto delayed = scheduler.post_task(note("delayed"), {.delay = 1ms});
  const auto bound = last.post_task(note("bound"));
  CloseMode mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  std::thread closer([&] { cluster.close(mode); });
  wait_until([&] { return !last.post([] {}, {.priority = TaskPriority::background}); });
  scheduler.resume();
  last.resume();
  closer.join();
  EXPECT_EQ(delayed.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(bound.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(trace.take().size(), 2U);
}

// Rules: LIF-1, ABT-4
TEST_P(Sus1Cluster, closed_with_a_wait_for_delayed_ones_then_not_for_aborted_ones) {
  scheduler.suspend();
  for (int i = 0; i < 5; ++i) {
    scheduler.post(tracked([] {}), {.signal = controller.signal()});
    scheduler.post(tracked([] {}), {.signal = controller.signal(), .delay = 1h});
  }
  pass_all_agents();
  controller.abort();
  std::atomic<bool> is_closed{false};
  std::thread closer([&] {
    CloseMode mode = CloseMode::drain();
    mode.wait_for_delayed = true;
    cluster.close(mode);
    is_closed.store(true);
  });
  EXPECT_TRUE(comes_true([&] { return is_closed.load(); }));
  scheduler.resume();
  closer.join();
}

// Rule: ABT-5
TEST_P(Sus1Cluster, aborted_meanwhile_again_and_again_then_memory_is_flat) {
  const auto round = [this] {
    TaskController own;
    for (int i = 0; i < 100; ++i) scheduler.post(tracked([] {}), {.signal = own.signal()});
    pass_all_agents();
    own.abort();
    wait_until([this] { return callbacks.alive() == 0; });
    pass_all_agents();
  };
  scheduler.suspend();
  scheduler.post([] {});
  // Each agent keeps some memory for itself once it has taken part.
  for (unsigned i = 0; i < 5 + cluster.size(); ++i) round();
  const auto held = held_by_pool();
  for (int i = 0; i < 200; ++i) round();
  EXPECT_LE(held_by_pool() - held, flat);
  scheduler.resume();
}

TEST_P(Sus1Cluster, some_aborted_meanwhile_then_the_others_keep_their_order) {
  std::optional<HeldAgents> held_agents(cluster);
  held_agents->let_go(0);
  scheduler.suspend();
  std::vector<int> order;
  std::vector<int> expected;
  for (int part = 0; part < 5; ++part) {
    AbortController own;
    for (int i = 4 * part; i < 4 * part + 4; ++i) {
      PostTaskOptions options{.priority = TaskPriority::user_visible};
      if (i % 4 == part % 4) options.signal = own.signal();
      if (i % 4 != part % 4) expected.push_back(i);
      scheduler.post([&order, i] { order.push_back(i); }, options);
    }
    pass_agent(0);
    own.abort();
  }
  pass_agent(0);
  scheduler.resume();
  pass_agent(0);
  held_agents.reset();
  EXPECT_EQ(order, expected);
}

// What is runnable and what is delayed go by the same call, whichever was the last.
TEST_P(Sus1Cluster, one_thread_suspends_while_another_resumes_then_all_its_tasks_wait_or_none) {
  for (int round = 0; round < 500; ++round) {
    std::latch start(2);
    std::thread other([&] {
      start.arrive_and_wait();
      scheduler.suspend();
    });
    start.arrive_and_wait();
    scheduler.resume();
    other.join();
    const auto runnable = scheduler.post_task([] {});
    const auto delayed = scheduler.post_task([] {}, {.delay = 1us});
    pass_all_agents();
    const bool goes_on = runnable.settled();
    ASSERT_TRUE(!goes_on || settles(delayed));
    scheduler.resume();
    ASSERT_TRUE(settles(runnable));
    ASSERT_TRUE(settles(delayed));
  }
}

// Rules: ABT-1, ABT-4
TEST_P(Sus1Cluster, aborted_while_another_thread_suspends_and_resumes_then_each_settles) {
  std::vector<Promise<void>> promises;
  std::atomic<bool> is_over{false};
  std::thread suspender([&] {
    while (!is_over.load()) {
      scheduler.suspend();
      std::this_thread::yield();
      scheduler.resume();
    }
  });
  for (int round = 0; round < 300; ++round) {
    TaskController own;
    for (int i = 0; i < 8; ++i) {
      PostTaskOptions options;
      if (i % 4 != 0) options.signal = own.signal();
      if (i % 4 == 1) options.priority = TaskPriority::user_blocking;
      if (i % 4 == 2) options.delay = 1us;
      promises.push_back(scheduler.post_task(tracked([this] { ran.fetch_add(1); }), options));
    }
    if (round % 2 == 0) own.abort();
  }
  is_over.store(true);
  suspender.join();
  int fulfilled = 0;
  for (const auto& promise : promises) {
    ASSERT_TRUE(settles(promise));
    if (promise.status() == PromiseStatus::fulfilled) ++fulfilled;
  }
  EXPECT_GE(fulfilled, 300 * 8 / 4 + 150 * 6);
  wait_until([this] { return callbacks.alive() == 0; });
  EXPECT_GE(ran.load(), fulfilled);  // some were aborted as they ran
}

TEST_P(Sus1Cluster, several_threads_suspend_and_resume_then_no_task_is_lost) {
  std::vector<Promise<void>> promises;
  {
    const std::vector<std::jthread> threads = [&] {
      std::vector<std::jthread> made;
      for (int t = 0; t < 2; ++t) {
        made.emplace_back([this] {
          for (int i = 0; i < 200; ++i) {
            scheduler.suspend();
            scheduler.resume();
          }
        });
      }
      return made;
    }();
    for (int i = 0; i < 200; ++i) {
      for (auto& promise : post_each_way()) promises.push_back(std::move(promise));
    }
  }
  for (const auto& promise : promises) promise.get();
  EXPECT_EQ(ran.load(), 1000);
}

/// Suspends and resumes a scheduler about once a tick until told to end, and measures for how long
/// it was not suspended.
class Cycles {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Cycles(Scheduler scheduler) : scheduler_(std::move(scheduler)), since_(Clock::now()) {}

  /// Returns whether the condition came true.
  template <class Condition>
  bool go_on_until(Condition condition) {
    const auto patience = Clock::now() + std::chrono::seconds(30);
    while (!condition() && Clock::now() < patience) {
      scheduler_.suspend();
      free_ += Clock::now() - since_;
      spin(300us);
      since_ = Clock::now();
      scheduler_.resume();
      spin(500us);
    }
    return condition();
  }
  /// No less than the time for which it was free until now.
  [[nodiscard]] Clock::duration most_free() const { return free_ + (Clock::now() - since_); }

 private:
  static void spin(Clock::duration time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) std::this_thread::yield();
  }

  const Scheduler scheduler_;
  Clock::duration free_{};
  Clock::time_point since_;
};

TEST_P(Sus1Cluster, delay_when_suspended_about_once_a_tick_then_ends_and_never_early) {
  const auto begin = Cycles::Clock::now();
  Cycles cycles(scheduler);
  const auto delayed = scheduler.post_task([] {}, {.delay = 20ms});
  ASSERT_TRUE(cycles.go_on_until([&] { return delayed.settled(); })) << "it never ends";
  EXPECT_GE(cycles.most_free(), 20ms);
  EXPECT_GE(Cycles::Clock::now() - begin, 20ms);
}

TEST_P(Sus1Cluster, delay_when_suspensions_never_stop_then_ends_all_the_same) {
  const auto delayed = scheduler.post_task([] {}, {.delay = 5ms});
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!delayed.settled() && std::chrono::steady_clock::now() < patience) {
    scheduler.suspend();
    scheduler.resume();
  }
  EXPECT_TRUE(delayed.settled());
}

// Rules: SUS-1, LIF-1
TEST_P(Sus1Cluster, closed_while_suspensions_go_on_then_the_drain_ends_and_delays_have_run) {
  const Scheduler bound = cluster.agent(GetParam() - 1).scheduler();
  std::vector<Promise<void>> delayed;
  for (const auto& of : {scheduler, bound}) {
    delayed.push_back(of.post_task([] {}, {.delay = 20ms}));
    delayed.push_back(of.post_task([] {}, {.delay = 10ms}));
  }
  CloseMode mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  std::atomic<bool> has_ended{false};
  std::thread closer([&] {
    cluster.close(mode);
    has_ended = true;
  });
  std::thread of_bound([&] { Cycles(bound).go_on_until([&] { return has_ended.load(); }); });
  EXPECT_TRUE(Cycles(scheduler).go_on_until([&] { return has_ended.load(); })) << "it hangs";
  of_bound.join();
  closer.join();
  for (const auto& promise : delayed) EXPECT_EQ(promise.status(), PromiseStatus::fulfilled);
}

}  // namespace
}  // namespace heist::support
