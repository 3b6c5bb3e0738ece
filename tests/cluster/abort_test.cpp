// Rules: ABT-1…6, in a cluster: whichever agent would have run it.
#include "cluster/cluster_fixture.hpp"
#include "support/pool_memory.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;

class ClusterAbort : public ClusterOf {
 protected:
  /// Of stealable tasks, posted in all ways that a signal can be used.
  std::vector<Promise<void>> post_all_kinds() {
    std::vector<Promise<void>> promises;
    const auto signal = controller.signal();
    const auto dependent = TaskSignal::any({signal}, signal);
    for (const auto& options :
         {PostTaskOptions{.signal = signal},
          PostTaskOptions{.signal = signal, .priority = background},
          PostTaskOptions{.signal = dependent}, PostTaskOptions{.signal = signal, .delay = 1h},
          PostTaskOptions{.signal = dependent, .delay = 1h},
          PostTaskOptions{.signal = signal, .delay = Delay::never()}}) {
      promises.push_back(scheduler().post_task(note("ran"), options));
      EXPECT_TRUE(scheduler().post(note("ran"), options));
    }
    return promises;
  }
  void expect_rejected(const std::vector<Promise<void>>& promises) {
    for (const auto& promise : promises) {
      EXPECT_EQ(promise.status(), PromiseStatus::rejected);
      EXPECT_EQ(promise.reason(), controller.signal().reason());
    }
  }
  [[nodiscard]] bool all_callbacks_go() {
    return comes_true([this] { return callbacks.alive() == 0; });
  }

  TaskController controller;
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterAbort, sizes, size_name);

// Rule: ABT-2
TEST_P(ClusterAbort, abort_when_queued_then_promises_are_rejected_at_its_return_and_nothing_runs) {
  HeldAgents held(cluster());
  const auto promises = post_all_kinds();
  controller.abort("enough");
  expect_rejected(promises);
  held.let_go();
  EXPECT_TRUE(all_callbacks_go());
}

// Rule: ABT-4
TEST_P(ClusterAbort, abort_when_one_agent_is_free_then_it_destroys_the_callbacks) {
  HeldAgents held(cluster());
  std::atomic<int> on_an_agent{0};
  for (const Delay delay : {Delay(), Delay(1h)}) {
    scheduler().post([probe = callbacks.probe(), end = AtDestruction([&] {
                                                   if (agent_here(cluster()) == 0U) ++on_an_agent;
                                                 })] {},
                     {.signal = controller.signal(), .delay = delay});
  }
  static_cast<void>(post_all_kinds());
  controller.abort();
  held.let_go(0);
  EXPECT_TRUE(all_callbacks_go());
  EXPECT_EQ(on_an_agent.load(), 2);
}

TEST_P(ClusterAbort, abort_when_all_agents_sleep_then_one_wakes_and_destroys_what_was_delayed) {
  static_cast<void>(
      scheduler().post_task(note("ran"), {.signal = controller.signal(), .delay = 1h}));
  fall_asleep();
  controller.abort();
  EXPECT_TRUE(all_callbacks_go());
}

// Rule: ABT-4
TEST_P(ClusterAbort, abort_when_a_task_is_next_then_a_portion_of_callbacks_goes_before_it_starts) {
  HeldAgents held(cluster());
  for (int i = 0; i < 20; ++i)
    scheduler().post(note("ran"), {.signal = controller.signal(), .delay = 1h});
  controller.abort();
  const auto next = scheduler().post_task([this] { return callbacks.alive(); });
  held.let_go(0);
  EXPECT_EQ(next.get(), 0);
}

// Rule: ABT-4: whatever the agent that cleared some of them away does next.
TEST_P(ClusterAbort, abort_when_an_agent_starts_a_long_task_then_another_one_clears_the_rest) {
  if (size() < 2) GTEST_SKIP() << "needs another agent";
  for (const int count : {1, 40, 5000}) {
    HeldAgents held(cluster());
    TaskController aborted;
    for (int i = 0; i < count; ++i) {
      const Delay delay = i % 2 == 0 ? Delay(1h) : Delay();
      scheduler().post(note("ran"),
                       {.signal = aborted.signal(), .priority = background, .delay = delay});
    }
    aborted.abort();
    test::Gate started;
    test::Gate gate;
    const auto lengthy = scheduler().post_task(
        [&] {
          started.open();
          gate.wait();
        },
        {.priority = user_blocking});
    held.let_go(0);
    started.wait();
    held.let_go();
    EXPECT_TRUE(all_callbacks_go()) << count;
    gate.open();
    lengthy.get();
  }
}

TEST_P(ClusterAbort, abort_when_by_a_stealable_task_then_its_agent_starts_none_of_them) {
  HeldAgents held(cluster());
  const auto promises = post_all_kinds();
  const auto aborting = scheduler().post_task(
      [&] {
        controller.abort();
        expect_rejected(promises);
      },
      {.priority = user_blocking});
  held.let_go(0);  // another one might start some of them before the abort
  ASSERT_TRUE(settles(aborting));
  held.let_go();
  EXPECT_TRUE(all_callbacks_go());
}

TEST_P(ClusterAbort, abort_when_by_a_task_of_the_signal_then_it_rejects_itself_and_the_others) {
  HeldAgents held(cluster());
  test::Gate aborted;
  const auto own =
      scheduler().post_task(tracked([&] {
                              controller.abort("mine");
                              aborted.open();
                            }),
                            {.signal = controller.signal(), .priority = user_blocking});
  const auto others = post_all_kinds();
  held.let_go(0);
  aborted.wait();
  EXPECT_EQ(own.reason(), controller.signal().reason());
  expect_rejected(others);
  held.let_go();
  EXPECT_TRUE(all_callbacks_go());
}

// Rule: ABT-6
TEST_P(ClusterAbort, abort_when_running_then_rejects_at_once_and_the_late_value_is_dropped) {
  test::Gate runs;
  test::Gate aborted;
  std::atomic<bool> seen{false};
  const auto promise = scheduler().post_task(tracked([&] {
                                               runs.open();
                                               aborted.wait();
                                               seen = controller.signal().aborted();
                                               return 1;
                                             }),
                                             {.signal = controller.signal()});
  runs.wait();
  controller.abort();
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  aborted.open();
  EXPECT_TRUE(all_callbacks_go());
  EXPECT_TRUE(seen.load());
}

TEST_P(ClusterAbort, abort_when_the_task_has_run_then_its_value_stays) {
  const auto promise = scheduler().post_task([] { return 2; }, {.signal = controller.signal()});
  ASSERT_TRUE(settles(promise));
  controller.abort();
  EXPECT_EQ(promise.get(), 2);
}

TEST_P(ClusterAbort, post_when_aborted_already_then_refused) {
  controller.abort();
  EXPECT_FALSE(scheduler().post(note("ran"), {.signal = controller.signal()}));
  const auto promise = scheduler().post_task(note("ran"), {.signal = controller.signal()});
  EXPECT_EQ(promise.reason(), controller.signal().reason());
}

// Rules: ABT-1, ABT-2: the post and the abort overlap.
TEST_P(ClusterAbort, abort_when_tasks_are_being_posted_then_each_settles_and_is_destroyed) {
  for (int round = 0; round < 200; ++round) {
    TaskController own(round % 2 == 0 ? background : user_blocking);
    std::vector<Promise<void>> promises;
    std::atomic<bool> begun{false};
    std::thread aborter([&] {
      wait_until([&] { return begun.load(); });
      own.abort();
    });
    for (int i = 0; i < 30; ++i) {
      if (i == round % 30) begun = true;
      promises.push_back(scheduler().post_task(
          tracked([] {}), {.signal = own.signal(), .delay = i % 3 == 0 ? Delay(1h) : Delay()}));
    }
    aborter.join();
    for (const auto& promise : promises) ASSERT_TRUE(settles(promise));
  }
  EXPECT_TRUE(all_callbacks_go());
}

// Rules: ABT-2, PRI-3: all at once.
TEST_P(ClusterAbort,
       abort_when_priorities_change_and_tasks_run_then_each_settles_and_is_destroyed) {
  for (int round = 0; round < 100; ++round) {
    TaskController own;
    std::vector<Promise<void>> promises;
    std::thread changer([&] {
      for (int i = 0; i < 20; ++i) own.set_priority(i % 2 == 0 ? background : user_blocking);
      own.abort();
    });
    for (int i = 0; i < 20; ++i) {
      promises.push_back(scheduler().post_task(tracked([] {}), {.signal = own.signal()}));
    }
    changer.join();
    for (const auto& promise : promises) ASSERT_TRUE(settles(promise));
  }
  EXPECT_TRUE(all_callbacks_go());
}

TEST_P(ClusterAbort, abort_when_a_listener_posts_then_what_it_posts_runs) {
  std::optional<Promise<int>> posted;
  const auto subscription = controller.signal().on_abort(
      [&] { posted = scheduler().post_task(tracked([] { return 3; })); });
  static_cast<void>(post_all_kinds());
  controller.abort();
  ASSERT_TRUE(posted && settles(*posted));
  EXPECT_EQ(posted->get(), 3);
}

// Rule: ABT-5
TEST_P(ClusterAbort, signal_when_many_come_and_go_then_memory_is_flat) {
  const auto rounds = [this](int count) {
    for (int i = 0; i < count; ++i) {
      TaskController own(background);
      const auto ran = scheduler().post_task([] {}, {.signal = own.signal()});
      own.set_priority(user_blocking);
      static_cast<void>(
          scheduler().post_task(tracked([] {}), {.signal = own.signal(), .delay = 1h}));
      ASSERT_TRUE(settles(ran));
      own.abort();
    }
    ASSERT_TRUE(all_callbacks_go());
  };
  rounds(2000);
  const auto before = held_by_pool();
  rounds(8000);
  EXPECT_LE(held_by_pool(), before + flat);
}

// Rule: ABT-5: one signal for all.
TEST_P(ClusterAbort, signal_when_it_outlives_many_tasks_then_memory_is_flat) {
  const auto rounds = [this](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(settles(scheduler().post_task([] {}, {.signal = controller.signal()})));
      controller.set_priority(i % 2 == 0 ? background : user_blocking);
    }
  };
  rounds(2000);
  const auto before = held_by_pool();
  rounds(8000);
  EXPECT_LE(held_by_pool(), before + flat);
}

}  // namespace
}  // namespace heist::support
