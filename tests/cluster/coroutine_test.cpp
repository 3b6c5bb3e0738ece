// Rules: YLD-1…5, LIF-1: coroutines on a cluster, which may go on on any of its agents.
#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ClusterCoroutine : public ClusterOf {
 protected:
  /// Adds `label` after each of its turns.
  Promise<void> yielder(std::string label, int turns, YieldOptions options = {}) {
    const auto alive = callbacks.probe();
    for (int turn = 1; turn <= turns; ++turn) {
      co_await heist::yield(options);
      trace.add(label + std::to_string(turn));
    }
  }
  /// True when each turn was on the agent that the first part ran on.
  Promise<bool> stays(int turns) {
    const auto alive = callbacks.probe();
    const auto here = agent_here(cluster());
    bool same = true;
    for (int turn = 0; turn < turns; ++turn) {
      co_await heist::yield();
      same = same && agent_here(cluster()) == here;
    }
    co_return same;
  }
  /// Adds what it finds behind everything it awaits.
  Promise<void> look_at_its_state(Promise<void> first, Promise<void> second,
                                  TaskController controller) {
    const auto alive = callbacks.probe();
    look("start");
    co_await first;
    look("first");
    co_await heist::yield();
    look("yield");
    co_await second;
    look("second");
    controller.abort("seen");
    try {
      co_await heist::yield();
    } catch (const Aborted&) {
      look("aborted");
    }
  }
  void look(const std::string& where) {
    trace.add(Scheduler::current() == scheduler() ? where : where + " elsewhere");
  }
  Promise<int> depth_of(int depth) {
    const auto alive = callbacks.probe();
    co_await heist::yield();
    if (depth == 0) co_return 0;
    const auto rest = depth_of(depth - 1);
    co_return 1 + co_await rest;
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterCoroutine, sizes, size_name);

TEST_P(ClusterCoroutine, yield_when_one_agent_is_free_then_before_tasks_of_its_priority) {
  HeldAgents held(cluster());
  scheduler().post([this] { scheduler().post(note("blocking"), {.priority = user_blocking}); });
  const auto done = scheduler().post_task([this] { return yielder("y", 2); });
  const auto last = scheduler().post_task(note("visible"));
  held.let_go(0);
  ASSERT_TRUE(settles(last));
  EXPECT_THAT(trace.take(), ElementsAre("blocking", "y1", "y2", "visible"));
  ASSERT_TRUE(settles(done));
}

TEST_P(ClusterCoroutine, yield_when_many_coroutines_take_turns_then_all_end) {
  std::vector<Promise<int>> promises;
  for (int i = 0; i < 100; ++i)
    promises.push_back(scheduler().post_task([this] { return depth_of(20); }));
  for (const auto& promise : promises) {
    ASSERT_TRUE(settles(promise));
    EXPECT_EQ(promise.get(), 20);
  }
}

// Rule: YLD-1
TEST_P(ClusterCoroutine, yield_when_bound_then_it_stays_on_its_agent) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    const auto promise = bound(agent).post_task([this] { return stays(50); });
    ASSERT_TRUE(settles(promise));
    EXPECT_TRUE(promise.get());
  }
}

// Rule: YLD-1
TEST_P(ClusterCoroutine, yield_when_stealable_and_its_agent_is_taken_then_it_goes_on_elsewhere) {
  if (size() == 1) return;
  // The task that waits may start when all else is over.
  const auto yielded = std::make_shared<test::Gate>();
  const auto promise = scheduler().post_task([this, yielded]() -> Promise<bool> {
    const auto here = agent_here(cluster());
    // What keeps its agent busy until it has gone on.
    bound(*here).post([yielded] { yielded->wait(); }, {.priority = user_blocking});
    co_await heist::yield();
    const bool moved = agent_here(cluster()) != here;
    yielded->open();
    co_return moved;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

// Rules: YLD-3, YLD-5
TEST_P(ClusterCoroutine, await_when_others_settle_it_then_the_state_is_kept) {
  for (int round = 0; round < 50; ++round) {
    const auto first = later<void>();
    const auto second = later<void>();
    const TaskController controller;
    const auto promise = scheduler().post_task(
        [&] { return look_at_its_state(first.promise, second.promise, controller); },
        {.signal = controller.signal()});
    first.resolve();
    bound(size() - 1).post([second] { second.resolve(); });
    ASSERT_TRUE(settles(promise));
    ASSERT_TRUE(comes_true([this] { return callbacks.alive() == 0; }));
    EXPECT_THAT(trace.take(), ElementsAre("start", "first", "yield", "second", "aborted"));
  }
}

TEST_P(ClusterCoroutine, yield_when_its_signal_was_lowered_then_behind_what_is_more_urgent) {
  HeldAgents held(cluster());
  TaskController controller(user_blocking);
  const auto moved = scheduler().post_task(
      [&]() -> Promise<void> {
        controller.set_priority(background);
        scheduler().post(note("visible"));
        co_await heist::yield();
        trace.add("continuation");
      },
      {.signal = controller.signal()});
  held.let_go(0);
  ASSERT_TRUE(settles(moved));
  EXPECT_THAT(trace.take(), ElementsAre("visible", "continuation"));
}

TEST_P(ClusterCoroutine, yield_when_its_signal_is_raised_then_it_overtakes) {
  HeldAgents held(cluster());
  TaskController controller(background);
  Promise<void> turn = scheduler().yield(YieldOptions(controller.signal()));
  const auto noted = turn.then(scheduler(), note("turn"));
  scheduler().post(note("visible"));
  const auto last = scheduler().post_task(note("background"), {.priority = background});
  controller.set_priority(user_blocking);
  held.let_go(0);
  ASSERT_TRUE(settles(noted) && settles(last));
  EXPECT_THAT(trace.take(), ElementsAre("turn", "visible", "background"));
}

TEST_P(ClusterCoroutine, abort_when_a_coroutine_has_yielded_then_it_throws_the_reason) {
  HeldAgents held(cluster());
  AbortController controller;
  Promise<void> turn = scheduler().yield(YieldOptions(controller.signal()));
  const auto awaiting = scheduler().post_task([&]() -> Promise<int> {
    co_await scheduler().yield(YieldOptions(controller.signal()));
    co_return 1;
  });
  const auto aborting =
      scheduler().post_task([&] { controller.abort("enough"); }, {.priority = background});
  controller.abort("enough");
  EXPECT_EQ(turn.reason(), controller.signal().reason());
  held.let_go();
  ASSERT_TRUE(settles(awaiting) && settles(aborting));
  EXPECT_EQ(awaiting.reason(), controller.signal().reason());
}

TEST_P(ClusterCoroutine, abort_when_coroutines_keep_yielding_then_all_throw) {
  for (int round = 0; round < 30; ++round) {
    TaskController controller;
    std::vector<Promise<void>> promises;
    for (int i = 0; i < 10; ++i) {
      promises.push_back(scheduler().post_task([this] { return yielder("y", 1'000'000'000); },
                                               {.signal = controller.signal()}));
    }
    controller.set_priority(background);
    controller.abort(round);
    for (const auto& promise : promises) {
      ASSERT_TRUE(settles(promise));
      EXPECT_EQ(promise.reason(), controller.signal().reason());
    }
  }
  EXPECT_TRUE(comes_true([this] { return callbacks.alive() == 0; }));
  static_cast<void>(trace.take());
}

TEST_P(ClusterCoroutine, await_when_many_wait_for_one_promise_then_all_go_on) {
  const auto awaited = later<int>();
  std::vector<Promise<int>> waiting;
  for (int i = 0; i < 200; ++i) {
    const auto to = i % 2 == 0 ? scheduler() : bound(static_cast<unsigned>(i) % size());
    waiting.push_back(
        to.post_task([&awaited]() -> Promise<int> { co_return co_await awaited.promise; }));
  }
  awaited.resolve(4);
  for (const auto& each : waiting) {
    ASSERT_TRUE(settles(each));
    EXPECT_EQ(each.get(), 4);
  }
}

TEST_P(ClusterCoroutine, await_when_a_promise_of_another_agent_then_goes_on_where_it_belongs) {
  const unsigned last = size() - 1;
  const auto promise = bound(0).post_task([this, last]() -> Promise<bool> {
    bool home = true;
    for (int i = 0; i < 50; ++i) {
      const auto bound_one = bound(last).post_task([] {});
      co_await bound_one;
      home = home && agent_here(cluster()) == 0U;
      const auto stealable = scheduler().post_task([] {});
      co_await stealable;
      home = home && agent_here(cluster()) == 0U;
    }
    co_return home;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterCoroutine, await_when_a_stealable_coroutine_hops_by_yield_then_it_is_where_it_asked) {
  const auto promise = scheduler().post_task([this]() -> Promise<bool> {
    bool right = true;
    for (unsigned i = 0; i < 20; ++i) {
      co_await bound(i % size()).yield();
      co_await scheduler().yield();
      right = right && Scheduler::current() == scheduler();
    }
    co_return right;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterCoroutine, sleep_for_when_in_a_stealable_coroutine_then_goes_on_afterwards) {
  const auto promise = scheduler().post_task([this]() -> Promise<bool> {
    const auto start = std::chrono::steady_clock::now();
    co_await sleep_for(2ms);
    co_return Scheduler::current() == scheduler() &&
        std::chrono::steady_clock::now() - start >= 2ms;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterCoroutine, sleep_for_when_aborted_then_rejects) {
  AbortController controller;
  const auto promise = sleep_for(scheduler(), 1h, controller.signal());
  controller.abort("up");
  EXPECT_EQ(promise.reason(), controller.signal().reason());
}

TEST_P(ClusterCoroutine, coroutine_when_it_throws_then_its_promise_rejects) {
  const auto promise = scheduler().post_task([]() -> Promise<int> {
    co_await heist::yield();
    throw std::runtime_error("thrown");
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_THROW(static_cast<void>(promise.get()), std::runtime_error);
}

// Rule: CLU-5: any agent may go on with it, so that another one's wait for it can end.
TEST_P(ClusterCoroutine, get_when_another_agent_may_go_on_with_the_coroutine_then_waits) {
  if (size() == 1) return;
  const auto start = later<void>();
  test::Gate waits;
  const auto outer = scheduler().post_task([&] {
    const auto inner = [](Promise<void> first) -> Promise<int> {
      co_await first;
      co_return 8;
    }(start.promise);
    waits.open();
    return inner.get();
  });
  waits.wait();
  start.resolve();
  ASSERT_TRUE(settles(outer));
  EXPECT_EQ(outer.get(), 8);
}

}  // namespace
}  // namespace heist::support
