// Rules: CLU-1, CLU-3, YLD-5, LIF-3: posting to a cluster, from anywhere.
#include "cluster/cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ClusterPost : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterPost, sizes, size_name);

TEST_P(ClusterPost, post_task_when_from_outside_then_runs_on_an_agent_and_settles) {
  const auto promise =
      scheduler().post_task(tracked([this] { return agent_here(cluster()).has_value(); }));
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterPost, post_task_when_from_a_stealable_task_then_runs) {
  const auto promise =
      scheduler().post_task([this] { return scheduler().post_task(tracked([] { return 5; })); });
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 5);
}

TEST_P(ClusterPost, post_task_when_from_a_bound_task_then_runs) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    const auto promise =
        bound(agent).post_task([this] { return scheduler().post_task([] { return 6; }); });
    ASSERT_TRUE(settles(promise));
    EXPECT_EQ(promise.get(), 6);
  }
}

TEST_P(ClusterPost, post_task_when_bound_then_runs_on_that_agent_only) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    for (int i = 0; i < 20; ++i) {
      const auto promise = bound(agent).post_task([this] { return agent_here(cluster()); });
      ASSERT_TRUE(settles(promise));
      EXPECT_EQ(promise.get(), agent);
    }
  }
}

TEST_P(ClusterPost, post_task_when_from_another_agent_then_runs) {
  Agent other;
  const auto promise =
      other.scheduler().post_task([this] { return scheduler().post_task([] { return 7; }); });
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 7);
}

TEST_P(ClusterPost, post_when_many_from_several_threads_then_each_runs_exactly_once) {
  constexpr int posters = 3;
  constexpr int each = 2000;
  std::vector<std::atomic<int>> runs(posters * each);
  Countdown left(posters * each);
  std::vector<std::thread> threads;
  for (int poster = 0; poster < posters; ++poster) {
    threads.emplace_back([&, poster] {
      for (int i = 0; i < each; ++i) {
        auto& count = runs[static_cast<std::size_t>(poster * each + i)];
        EXPECT_TRUE(
            scheduler().post(tracked([&] { ++count, left.done(); }),
                             {.priority = every_priority[static_cast<std::size_t>(i) % 3]}));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(left.ends());
  for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
}

TEST_P(ClusterPost, post_when_tasks_fan_out_then_each_runs_exactly_once) {
  constexpr int parents = 30;
  constexpr int children = 300;  // more than an agent's ring holds
  Countdown left(parents * children);
  for (int i = 0; i < parents; ++i) {
    scheduler().post(tracked([&] {
      for (int child = 0; child < children; ++child) {
        scheduler().post(tracked([&] { left.done(); }));
      }
    }));
  }
  EXPECT_TRUE(left.ends());
}

TEST_P(ClusterPost, post_when_all_agents_are_held_then_what_waited_runs_exactly_once) {
  constexpr int count = 40'000;  // several bins, and more than all rings hold
  std::vector<std::atomic<int>> runs(count);
  Countdown left(count);
  {
    const HeldAgents held(cluster());
    for (auto& run : runs) scheduler().post([&] { ++run, left.done(); });
    EXPECT_EQ(left.left(), count);
  }
  EXPECT_TRUE(left.ends());
  for (const auto& run : runs) EXPECT_EQ(run.load(), 1);
}

// Rule: CLU-3
TEST_P(ClusterPost, post_when_all_sleep_and_tasks_wait_for_each_other_then_all_agents_wake) {
  for (int round = 0; round < 20; ++round) {
    fall_asleep();
    const auto all_here = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(size()));
    Countdown left(static_cast<int>(size()));
    for (unsigned i = 0; i < size(); ++i) {
      scheduler().post([&left, all_here] { all_here->arrive_and_wait(), left.done(); });
    }
    ASSERT_TRUE(left.ends());
  }
}

// Rule: CLU-3: the same, posted by one task.
TEST_P(ClusterPost, post_when_a_task_waits_for_what_it_posted_then_other_agents_run_it) {
  for (int round = 0; round < 20; ++round) {
    fall_asleep();
    const auto all_here = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(size()));
    Countdown left(static_cast<int>(size()));
    scheduler().post([&, all_here] {
      for (unsigned i = 1; i < size(); ++i) {
        scheduler().post([&left, all_here] { all_here->arrive_and_wait(), left.done(); });
      }
      all_here->arrive_and_wait();
      left.done();
    });
    ASSERT_TRUE(left.ends());
  }
}

// Rule: YLD-5
TEST_P(ClusterPost, current_when_in_a_stealable_task_then_the_clusters_scheduler) {
  const auto promise =
      scheduler().post_task([this] { return Scheduler::current() == scheduler(); });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterPost, current_when_in_a_bound_task_then_that_agents_scheduler) {
  const auto promise = bound(0).post_task([this] { return Scheduler::current() == bound(0); });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

// Rule: LIF-3
TEST_P(ClusterPost, post_when_a_task_throws_then_the_hook_hears_and_the_agent_goes_on) {
  scheduler().post([] { throw std::runtime_error("first"); });
  const auto promise = scheduler().post_task([]() -> int { throw std::runtime_error("second"); });
  ASSERT_TRUE(settles(promise));
  EXPECT_THROW(static_cast<void>(promise.get()), std::runtime_error);
  const auto after = scheduler().post_task([] { return 1; });
  ASSERT_TRUE(settles(after));
  end();
  EXPECT_THAT(errors.take(), ElementsAre(RecordedError{ErrorOrigin::task, "first"}));
}

TEST_P(ClusterPost, queue_task_when_on_a_member_then_runs_there_without_a_scheduler) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    const auto ran = later<bool>();
    EXPECT_TRUE(cluster().agent(agent).queue_task(TaskSource::io, [this, agent, ran] {
      ran.resolve(agent_here(cluster()) == agent && !Scheduler::current());
    }));
    ASSERT_TRUE(settles(ran.promise));
    EXPECT_TRUE(ran.promise.get());
    EXPECT_EQ(
        cluster().agent(agent).stats().source_tasks_run[static_cast<std::size_t>(TaskSource::io)],
        1U);
  }
}

TEST_P(ClusterPost, set_timeout_when_in_a_stealable_task_then_fires_on_its_agent) {
  const auto promise = scheduler().post_task([this] {
    const auto fired = later<bool>();
    static_cast<void>(set_timeout(tracked([this, here = agent_here(cluster()), fired] {
                                    fired.resolve(agent_here(cluster()) == here);
                                  }),
                                  1ms));
    return fired.promise;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterPost, clear_when_in_the_same_stealable_task_then_it_never_fires) {
  const auto promise = scheduler().post_task([this] {
    auto timeout = set_timeout(note("fired"), 0ms);
    return timeout.clear();
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterPost, stats_when_tasks_ran_then_their_number) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(settles(scheduler().post_task([] {})));
  cluster().close(CloseMode::drain());
  EXPECT_EQ(cluster().stats().tasks_run, 100U);
}

TEST_P(ClusterPost, post_when_a_task_drives_a_loop_of_its_own_then_both_go_on) {
  const auto promise = scheduler().post_task([this] {
    EventLoop nested;
    nested.scheduler().post([&] {
      auto inner = scheduler().post_task([] { return 3; }, {.priority = user_blocking});
      static_cast<void>(inner.then([&nested](int) { nested.stop(); },
                                   [&nested](const Reason&) { nested.stop(); }));
    });
    if (size() > 1) nested.run();  // alone it would wait for itself
    nested.run_until_idle();
    return agent_here(cluster()).has_value() && Scheduler::current() == scheduler();
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

class ClusterTurns : public ClusterFixture {};

/// A background task that posts itself again, and a more urgent one, while any are left.
struct WithUrgentOnes {
  void run() {
    ++runs;
    if (--left <= 0) return done.open();
    cluster.post([] {}, {.priority = user_blocking});
    own.post([this] { run(); }, {.priority = background});
  }

  Scheduler own;
  Scheduler cluster;
  int& left;  ///< of all of them, on one agent
  int runs = 0;
  test::Gate done = {};
};

// Rule: CLU-2: whatever runs between them.
TEST_F(ClusterTurns, tasks_when_bound_and_stealable_of_one_level_then_they_take_turns) {
  start(2);
  HeldAgents held(cluster());
  int left = 1000;
  WithUrgentOnes own{.own = bound(0), .cluster = scheduler(), .left = left};
  WithUrgentOnes stealable{.own = scheduler(), .cluster = scheduler(), .left = left};
  for (WithUrgentOnes* tasks : {&own, &stealable}) {
    tasks->own.post([tasks] { tasks->run(); }, {.priority = background});
  }
  held.let_go(0);
  own.done.wait();
  stealable.done.wait();
  EXPECT_GE(own.runs, 400);
  EXPECT_GE(stealable.runs, 400);
}

}  // namespace
}  // namespace heist::support
