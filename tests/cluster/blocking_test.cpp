// Rules: CLU-1, CLU-3, CLU-4, DLY-5, LIF-1: blocking(), and the threads that take the places of
//         agents that are in it.
#include <heist/agent_cluster.hpp>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// What on_start and on_stop were called with.
class ThreadLog {
 public:
  void watch(AgentClusterOptions& options) {
    options.on_start = [this](unsigned index) { add(started_, index); };
    options.on_stop = [this](unsigned index) { add(stopped_, index); };
  }
  [[nodiscard]] int started(unsigned index) { return look(started_, index); }
  [[nodiscard]] int stopped(unsigned index) { return look(stopped_, index); }
  [[nodiscard]] std::size_t threads() {
    const std::lock_guard lock(mutex_);
    return started_.size();
  }

 private:
  void add(std::map<unsigned, int>& where, unsigned index) {
    const std::lock_guard lock(mutex_);
    ++where[index];
  }
  int look(std::map<unsigned, int>& where, unsigned index) {
    const std::lock_guard lock(mutex_);
    return where[index];
  }

  std::mutex mutex_;
  std::map<unsigned, int> started_;
  std::map<unsigned, int> stopped_;
};

class BlockingFixture : public ClusterFixture {
 protected:
  void start_watched(AgentClusterOptions options) {
    threads.watch(options);
    start(std::move(options));
  }
  void TearDown() override {
    gate.open();
    ClusterFixture::TearDown();
  }

  /// A task that blocks until the gate opens; returns when it does.
  void block(const Scheduler& to) {
    auto entered = std::make_shared<test::Gate>();
    blocked.push_back(to.post_task([this, entered] {
      blocking([&] {
        entered->open();
        gate.wait();
      });
    }));
    entered->wait();
  }
  /// So many agents or reserves.
  void block(unsigned count) {
    for (unsigned i = 0; i < count; ++i) block(scheduler());
  }
  /// All agents, but none of the reserves.
  void block_agents() {
    for (unsigned agent = 0; agent < size(); ++agent) block(bound(agent));
  }
  void let_go() {
    gate.open();
    for (const auto& each : blocked) ASSERT_TRUE(settles(each));
    gate = {};
    blocked.clear();
  }

  ThreadLog threads;
  test::Gate gate;
  std::vector<Promise<void>> blocked;
};

class Blocking : public BlockingFixture, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override { start_watched({.agents = GetParam()}); }
};
// (With as many reserves as agents.)
INSTANTIATE_TEST_SUITE_P(Agents, Blocking, testing::Values(2U, 3U, 8U), size_name);

TEST_P(Blocking, blocking_when_all_agents_do_then_a_task_behind_them_lets_them_go) {
  std::vector<Promise<void>> waiting;
  for (unsigned i = 0; i < size(); ++i) {
    waiting.push_back(scheduler().post_task([this] { blocking([this] { gate.wait(); }); }));
  }
  scheduler().post([this] { gate.open(); });
  for (const auto& each : waiting) EXPECT_TRUE(settles(each));
  gate = {};
}

TEST_P(Blocking, blocking_when_reserves_do_then_others_take_their_places) {
  block(2 * size() - 1);
  EXPECT_TRUE(settles(scheduler().post_task([] {})));
}

TEST_P(Blocking, blocking_when_more_than_all_threads_do_then_tasks_wait_and_no_thread_is_made) {
  block(2 * size());
  std::atomic<bool> is_open{false};
  auto late = scheduler().post_task([&] { return is_open.load(); });
  is_open = true;
  let_go();
  EXPECT_TRUE(late.get());
  end();
  EXPECT_EQ(threads.threads(), 2 * GetParam());
}

TEST_P(Blocking, blocking_when_done_again_and_again_then_threads_are_used_again) {
  for (int round = 0; round < 20; ++round) {
    block_agents();
    EXPECT_TRUE(settles(scheduler().post_task([] {})));
    let_go();
  }
  const unsigned agents = size();
  end();
  for (unsigned index = 0; index < 2 * agents; ++index) EXPECT_LE(threads.started(index), 1);
  EXPECT_GT(threads.started(agents), 0);
}

TEST_P(Blocking, blocking_when_within_another_one_then_counts_once) {
  const int result =
      scheduler()
          .post_task([] { return blocking([] { return blocking([] { return 1; }) + 1; }); })
          .get();
  EXPECT_EQ(result, 2);
  const unsigned agents = size();
  end();
  EXPECT_EQ(threads.threads(), agents + 1);
}

TEST_P(Blocking, blocking_when_in_a_loop_that_a_task_drives_then_counts_for_the_agent) {
  block(size() - 1);
  auto nested = scheduler().post_task([this] {
    EventLoop inner;
    inner.scheduler().post(
        [this] { blocking([this] { ASSERT_TRUE(settles(scheduler().post_task([] {}))); }); });
    inner.run_until_idle();
  });
  EXPECT_TRUE(settles(nested));
}

TEST_P(Blocking, blocking_when_it_throws_then_the_task_fails_and_the_agent_is_back) {
  auto failing = scheduler().post_task([] { blocking([] { throw std::runtime_error("no"); }); });
  EXPECT_THROW(failing.get(), std::runtime_error);
  block(2 * size());
  auto late = scheduler().post_task([] {});
  let_go();
  EXPECT_TRUE(settles(late));
}

TEST_P(Blocking, blocking_then_what_is_bound_to_the_agent_waits_for_it) {
  std::vector<Promise<bool>> bound_tasks;
  std::atomic<bool> is_open{false};
  block_agents();
  for (unsigned agent = 0; agent < size(); ++agent) {
    bound_tasks.push_back(bound(agent).post_task([&] { return is_open.load(); }));
  }
  EXPECT_TRUE(settles(scheduler().post_task([] {})));
  is_open = true;
  let_go();
  for (const auto& task : bound_tasks) EXPECT_TRUE(task.get());
}

TEST_P(Blocking, blocking_when_all_agents_do_then_delays_fire) {
  block_agents();
  EXPECT_TRUE(settles(scheduler().post_task([] {}, {.delay = 1ms})));
}

TEST_P(Blocking, blocking_in_a_coroutine_between_awaits_then_it_goes_on) {
  auto turns = [this](int rounds) -> Promise<int> {
    int sum = 0;
    for (int i = 0; i < rounds; ++i) {
      co_await heist::yield();
      sum += blocking([this] { return scheduler().post_task([] { return 1; }).get(); });
      const auto one = scheduler().post_task([] { return 1; });
      sum += co_await one;
    }
    co_return sum;
  };
  std::vector<Promise<int>> all;
  for (unsigned i = 0; i < 2 * size() - 1; ++i) {
    all.push_back(scheduler().post_task([&] { return turns(10); }));
  }
  for (const auto& each : all) EXPECT_EQ(each.get(), 20);
}

Forkable<int> tree(int depth) {
  if (depth == 0) co_return blocking([] { return 1; });
  auto left = co_await fork(tree(depth - 1));
  const int right = co_await tree(depth - 1);
  co_await join();
  co_return left.value() + right;
}

TEST_P(Blocking, blocking_in_forked_calls_then_the_tree_ends) {
  EXPECT_EQ(scheduler().post_task([] { return tree(8); }).get(), 1 << 8);
}

Forkable<> waits_for(test::Gate& gate) {
  blocking([&] { gate.wait(); });
  co_return;
}
Forkable<> opens_behind_a_fork(test::Gate& gate) {
  co_await fork(waits_for(gate));
  gate.open();
  co_await join();
}

TEST_P(Blocking, blocking_in_a_forked_call_then_its_caller_goes_on_elsewhere) {
  block(size() - 1);
  test::Gate inner;
  EXPECT_TRUE(settles(scheduler().post_task([&] { return opens_behind_a_fork(inner); })));
}

TEST_P(Blocking, stats_then_what_reserves_ran_is_in_them) {
  block_agents();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(settles(scheduler().post_task([] {})));
  EXPECT_EQ(cluster().stats().tasks_run, size() + 10);
}

TEST_P(Blocking, close_when_draining_then_waits_for_who_blocks_and_what_they_post) {
  block_agents();
  scheduler().post_task([] {}).get();
  auto last = scheduler().post_task([this] {
    blocking([this] { gate.wait(); });
    scheduler().post([this] { trace.add("posted while it drains"); });
  });
  std::thread closer([this] { cluster().close(CloseMode::drain()); });
  ASSERT_TRUE(comes_true([this] { return !scheduler().post([] {}); }));
  gate.open();
  closer.join();
  EXPECT_TRUE(last.settled());
  EXPECT_THAT(trace.take(), ElementsAre("posted while it drains"));
  gate = {};
}

TEST_P(Blocking, close_when_draining_then_reserves_run_what_lets_agents_go) {
  HeldAgents held(cluster());
  for (unsigned i = 0; i < size(); ++i) {
    blocked.push_back(scheduler().post_task([this] { blocking([this] { gate.wait(); }); }));
  }
  scheduler().post([this] { gate.open(); });
  std::thread closer([this] { cluster().close(CloseMode::drain()); });
  ASSERT_TRUE(comes_true([this] { return !scheduler().post([] {}); }));
  held.let_go();
  closer.join();
  for (const auto& each : blocked) EXPECT_EQ(each.status(), PromiseStatus::fulfilled);
  gate = {};
}

TEST_P(Blocking, close_when_draining_and_all_is_quiet_then_ends_though_reserves_rest) {
  block(2 * size());
  let_go();
  EXPECT_EQ(cluster().close(CloseMode::drain()).still_running, 0U);
}

TEST_P(Blocking, close_when_aborting_then_drops_what_waits_and_waits_for_who_blocks) {
  block(2 * size());
  auto waiting = scheduler().post_task(tracked([] {}));
  std::thread closer([this] { cluster().close(CloseMode::abort()); });
  ASSERT_TRUE(comes_true([this] { return !bound(0).post([] {}); }));
  gate.open();
  closer.join();
  EXPECT_THROW(waiting.get(), AbortError);
  gate = {};
}

TEST_P(Blocking, close_when_aborting_then_who_waits_for_a_task_that_never_ran_goes_on) {
  block(2 * size() - 2);
  std::latch all_threads_are_taken(3);
  const auto wait_for_another = [&] {
    all_threads_are_taken.arrive_and_wait();
    return settles(scheduler().post_task(note("ran")));
  };
  const auto waits = scheduler().post_task(wait_for_another);
  const auto blocks = scheduler().post_task([&] { return blocking(wait_for_another); });
  all_threads_are_taken.arrive_and_wait();
  std::thread closer([this] { cluster().close(CloseMode::abort()); });
  ASSERT_TRUE(comes_true([this] { return !bound(0).post([] {}); }));
  gate.open();
  closer.join();
  EXPECT_TRUE(waits.get());
  EXPECT_TRUE(blocks.get());
  gate = {};
}

TEST_P(Blocking, close_when_the_deadline_comes_then_who_blocks_is_still_running) {
  block(size());
  const auto report = cluster().close(CloseMode::drain_until(std::chrono::steady_clock::now()));
  EXPECT_EQ(report.still_running, size());
  for (const auto& each : blocked) EXPECT_THROW(each.get(), AbortError);
  gate.open();
  end();
  gate = {};
}

TEST_P(Blocking, destruction_while_they_block_then_waits_for_them) {
  block(size() + 1);
  std::thread opener([this] { gate.open(); });
  end();
  opener.join();
  gate = {};
}

// Threads.

class BlockingThreads : public BlockingFixture {};

TEST_F(BlockingThreads,
       reserve_when_it_slept_long_enough_then_its_thread_ends_and_another_follows) {
  start_watched({.agents = 2, .reserves = 2, .reserve_idle = 1ms});
  for (int round = 1; round <= 3; ++round) {
    block_agents();
    ASSERT_TRUE(settles(scheduler().post_task([] {})));
    let_go();
    ASSERT_TRUE(comes_true([&] { return threads.stopped(2) == round; }));
    EXPECT_EQ(threads.started(2), round);
  }
}

TEST_F(BlockingThreads, reserve_when_agents_block_for_long_then_sleeps_and_still_comes) {
  start_watched({.agents = 2, .reserves = 1, .reserve_idle = 0ms});
  block_agents();
  const auto sleeps = cluster().stats().sleeps;
  ASSERT_TRUE(comes_true([&] { return cluster().stats().sleeps > sleeps + 2; }));
  EXPECT_TRUE(settles(scheduler().post_task([] {})));
  EXPECT_EQ(threads.stopped(2), 0);
}

TEST_F(BlockingThreads, reserve_when_it_has_timers_then_they_run_though_nobody_blocks) {
  start_watched({.agents = 2, .reserve_idle = 0ms});
  block_agents();
  auto fired = later<unsigned>();
  auto timeout =
      scheduler()
          .post_task([&] {
            return std::make_shared<Timeout>(set_timeout(
                [this, fired] { fired.resolve(agent_here(cluster()).value_or(99)); }, 10ms));
          })
          .get();
  let_go();
  EXPECT_EQ(fired.promise.get(), 99U) << "on a thread that is no agent's";
  timeout.reset();
  EXPECT_TRUE(comes_true([this] { return threads.stopped(2) == threads.started(2); }));
}

TEST_F(BlockingThreads, reserve_when_its_loop_is_known_then_serves_it) {
  start_watched({.agents = 2, .reserves = 1, .reserve_idle = 0ms});
  block_agents();
  auto its_own = scheduler().post_task([] { return Agent::current()->scheduler(); }).get();
  let_go();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(its_own.post_task([] { return Agent::current()->name(); }).get(), "heist-2");
  }
  EXPECT_EQ(threads.stopped(2), 0);
  its_own = scheduler();
  // What it knew of is gone; it looks when it wakes up.
  EXPECT_TRUE(comes_true([this] { return threads.stopped(2) == 1; }));
}

TEST_F(BlockingThreads,
       reserve_when_it_has_work_of_its_own_then_more_urgent_stealable_tasks_come_first) {
  start({.agents = 2, .reserves = 1});
  block_agents();
  auto its_own = scheduler().post_task([] { return Agent::current()->scheduler(); }).get();
  let_go();
  HeldAgents held(cluster());
  test::Gate start_of_it;
  its_own.post([&] { start_of_it.wait(); });
  its_own.post(note("its own"), {.priority = background});
  auto last = its_own.post_task([] {}, {.priority = background});
  scheduler().post(note("urgent"), {.priority = user_blocking});
  start_of_it.open();
  ASSERT_TRUE(settles(last));
  EXPECT_THAT(trace.take(), ElementsAre("urgent", "its own"));
  held.let_go();
}

TEST_F(BlockingThreads, reserve_then_picks_the_most_urgent_first) {
  start({.agents = 2, .reserves = 1});
  block_agents();
  test::Gate held;
  test::Gate holds;
  scheduler().post([&] {
    holds.open();
    held.wait();
  });
  ASSERT_TRUE(holds.opens());
  scheduler().post(note("background"), {.priority = background});
  scheduler().post(note("visible"));
  scheduler().post(note("urgent"), {.priority = user_blocking});
  auto last = scheduler().post_task([] {}, {.priority = background});
  held.open();
  ASSERT_TRUE(settles(last));
  EXPECT_THAT(trace.take(), ElementsAre("urgent", "visible", "background"));
}

TEST_F(BlockingThreads, reserve_when_on_start_throws_then_the_error_is_reported_and_it_serves) {
  start({.agents = 2, .reserves = 1, .on_start = [](unsigned index) {
           if (index == 2) throw std::runtime_error("on_start");
         }});
  block_agents();
  EXPECT_TRUE(settles(scheduler().post_task([] {})));
  EXPECT_THAT(errors.take(), testing::SizeIs(1));
}

TEST_F(BlockingThreads, reserves_when_there_are_none_then_blocking_is_a_call) {
  start_watched({.agents = 2, .reserves = 0});
  EXPECT_EQ(scheduler().post_task([] { return blocking([] { return 1; }); }).get(), 1);
  end();
  EXPECT_EQ(threads.threads(), 2U);
}

TEST_F(BlockingThreads, agents_when_one_then_blocking_is_a_call_and_its_tasks_wait) {
  start_watched({.agents = 1});
  scheduler().post([this] {
    blocking([this] { gate.wait(); });
    trace.add("before");
  });
  auto last = scheduler().post_task(note("after"));
  gate.open();
  ASSERT_TRUE(settles(last));
  gate = {};
  EXPECT_THAT(trace.take(), ElementsAre("before", "after"));
  end();
  EXPECT_EQ(threads.threads(), 1U);
}

TEST_F(BlockingThreads, options_when_wrong_then_refused) {
  EXPECT_THROW(AgentCluster({.agents = 1000, .reserves = 25}), std::invalid_argument);
  EXPECT_THROW(AgentCluster({.agents = 2, .reserves = 1023}), std::invalid_argument);
  EXPECT_THROW(AgentCluster({.agents = 2, .reserve_idle = -1ms}), std::invalid_argument);
}

TEST_F(BlockingThreads, reserves_when_they_stand_in_several_groups_then_all_take_places) {
  start_watched({.agents = 2, .reserves = 60});
  for (int round = 0; round < 2; ++round) {
    block(61);
    EXPECT_TRUE(settles(scheduler().post_task([] {})));
    let_go();
  }
  end();
  EXPECT_EQ(threads.threads(), 62U);
}

TEST_F(BlockingThreads, agents_when_as_many_as_there_may_be_then_fewer_reserves) {
  start_watched({.agents = 1023});
  block(1024);
  gate.open();
  end();
  EXPECT_EQ(threads.threads(), 1024U);
  gate = {};
}

// The call.

TEST(BlockingCall, blocking_then_gives_what_the_callable_gives) {
  int here = 3;
  static_assert(std::is_void_v<decltype(blocking([] {}))>);
  static_assert(std::is_same_v<decltype(blocking([&]() -> int& { return here; })), int&>);
  EXPECT_EQ(&blocking([&]() -> int& { return here; }), &here);
  auto moved = std::make_unique<int>(4);
  EXPECT_EQ(*blocking([&] { return std::move(moved); }), 4);
  EXPECT_EQ(
      blocking([own = std::make_unique<int>(5)]() mutable { return std::move(own); }) == nullptr,
      false);
  EXPECT_THROW(blocking([] { throw std::runtime_error("no"); }), std::runtime_error);
}

TEST(BlockingCall, blocking_when_on_a_single_agent_then_is_a_call) {
  Agent agent;
  const auto here = agent.scheduler().post_task(
      [] { return blocking([] { return std::this_thread::get_id(); }); });
  EXPECT_EQ(here.get(),
            agent.scheduler().post_task([] { return std::this_thread::get_id(); }).get());
}

}  // namespace
}  // namespace heist::support
