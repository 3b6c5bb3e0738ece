// Rules: LIF-1, ABT-6: how a cluster is closed, and what becomes of its tasks.
#include "cluster/cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

CloseMode drain_also_delayed() {
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  return mode;
}

class ClusterClose : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterClose, sizes, size_name);

TEST_P(ClusterClose, close_when_idle_then_nothing_to_report_also_when_called_again) {
  for (const auto& mode : {CloseMode::drain(), CloseMode::abort(), drain_also_delayed()}) {
    EXPECT_EQ(cluster().close(mode), CloseReport{});
  }
}

TEST_P(ClusterClose, close_when_draining_then_what_is_runnable_runs_and_is_counted) {
  constexpr int count = 500;
  std::vector<Promise<int>> promises;
  CloseReport report;
  {
    HeldAgents held(cluster());
    TaskController controller;
    for (int i = 0; i < count; ++i) {
      const auto to = i % 3 == 0 ? bound(static_cast<unsigned>(i) % size()) : scheduler();
      PostTaskOptions options;
      if (i % 2 == 0) options.signal = controller.signal();
      promises.push_back(to.post_task(tracked([i] { return i; }), options));
    }
    std::thread closer([&] { report = cluster().close(CloseMode::drain()); });
    ASSERT_TRUE(comes_true([this] { return !scheduler().post([] {}); }));
    held.let_go();
    closer.join();
  }
  for (int i = 0; i < count; ++i) EXPECT_EQ(promises[static_cast<std::size_t>(i)].get(), i);
  EXPECT_EQ(report.aborted, 0U);
  EXPECT_GE(report.ran, count);
}

TEST_P(ClusterClose, close_when_draining_then_tasks_may_post_on_to_the_cluster) {
  std::function<void(int)> chain = [&](int left) {
    if (left == 0) return trace.add("end");
    EXPECT_TRUE(scheduler().post(tracked([&, left] { chain(left - 1); })));
  };
  HeldAgents held(cluster());
  scheduler().post([&] { chain(200); });
  std::thread closer([&] { cluster().close(CloseMode::drain()); });
  ASSERT_TRUE(comes_true([this] { return !scheduler().post([] {}); }));
  held.let_go();
  closer.join();
  EXPECT_THAT(trace.take(), testing::ElementsAre("end"));
}

TEST_P(ClusterClose, close_when_draining_then_tasks_may_post_on_to_every_agent) {
  HeldAgents held(cluster());
  std::atomic<unsigned> accepted{0};
  std::atomic<unsigned> ran{0};
  for (unsigned from = 0; from < size(); ++from) {
    bound(from).post([&] {
      for (unsigned to = 0; to < size(); ++to) {
        if (bound(to).post(tracked([&] { ++ran; }))) ++accepted;
      }
    });
  }
  std::thread closer([&] { cluster().close(CloseMode::drain()); });
  ASSERT_TRUE(comes_true([this] { return !scheduler().post([] {}); }));
  held.let_go();
  closer.join();
  EXPECT_EQ(accepted.load(), size() * size());
  EXPECT_EQ(ran.load(), accepted.load());
}

TEST_P(ClusterClose, close_when_draining_then_a_loop_nested_in_a_task_may_post_on) {
  HeldAgents held(cluster());
  std::atomic<int> accepted{0};
  scheduler().post([&] {
    EventLoop nested;
    nested.scheduler().post([&] { accepted += scheduler().post(note("posted")) ? 1 : 0; });
    nested.scheduler().post([&] { accepted += bound(0).post(note("posted")) ? 1 : 0; });
    nested.run_until_idle();
  });
  std::thread closer([&] { cluster().close(CloseMode::drain()); });
  ASSERT_TRUE(comes_true([this] { return !scheduler().post([] {}); }));
  held.let_go();
  closer.join();
  EXPECT_EQ(accepted.load(), 2);
  EXPECT_EQ(trace.take().size(), 2U);
}

TEST_P(ClusterClose, close_when_draining_then_coroutines_go_on_to_their_end) {
  HeldAgents held(cluster());
  const auto promise = scheduler().post_task([this]() -> Promise<int> {
    int sum = 0;
    for (int i = 0; i < 20; ++i) {
      co_await heist::yield();
      const auto stealable = scheduler().post_task([] { return 1; });
      sum += co_await stealable;
      const auto bound_one = bound(static_cast<unsigned>(i) % size()).post_task([] { return 1; });
      sum += co_await bound_one;
    }
    co_return sum;
  });
  std::thread closer([&] { cluster().close(CloseMode::drain()); });
  ASSERT_TRUE(comes_true([this] { return !scheduler().post([] {}); }));
  held.let_go();
  closer.join();
  ASSERT_EQ(promise.status(), PromiseStatus::fulfilled) << promise.reason().what();
  EXPECT_EQ(promise.get(), 40);
}

TEST_P(ClusterClose, close_when_draining_then_delayed_tasks_reject) {
  const auto stealable = scheduler().post_task(note("ran"), {.delay = 1h});
  const auto on_agent = bound(size() - 1).post_task(note("ran"), {.delay = 1h});
  EXPECT_EQ(cluster().close(CloseMode::drain()), (CloseReport{.aborted = 2}));
  EXPECT_TRUE(test::is<AbortError>(stealable.reason()));
  EXPECT_TRUE(test::is<AbortError>(on_agent.reason()));
}

TEST_P(ClusterClose, close_when_draining_and_a_far_delay_has_woken_nobody_then_it_returns) {
  scheduler().post(note("ran"), {.delay = 1h});
  fall_asleep();
  scheduler().post(note("ran"), {.delay = 2h});
  const auto never = scheduler().post_task(note("ran"), {.delay = Delay::never()});
  EXPECT_EQ(cluster().close(CloseMode::drain()), (CloseReport{.aborted = 3}));
  EXPECT_TRUE(test::is<AbortError>(never.reason()));
}

TEST_P(ClusterClose, close_when_waiting_for_delayed_tasks_then_they_run) {
  const auto stealable = scheduler().post_task([] { return 1; }, {.delay = 5ms});
  const auto on_agent = bound(size() - 1).post_task([] { return 2; }, {.delay = 10ms});
  const auto never = scheduler().post_task([] { return 3; }, {.delay = Delay::never()});
  const CloseReport report = cluster().close(drain_also_delayed());
  EXPECT_EQ(report.aborted, 1U);
  EXPECT_LE(report.ran, 2U);  // on a slow machine they have run before
  EXPECT_EQ(stealable.get(), 1);
  EXPECT_EQ(on_agent.get(), 2);
  EXPECT_TRUE(test::is<AbortError>(never.reason()));
}

TEST_P(ClusterClose, close_when_waiting_for_delayed_tasks_then_also_for_those_they_post) {
  std::optional<Promise<int>> second;
  const auto first = scheduler().post_task(
      [&] { second = scheduler().post_task([] { return 2; }, {.delay = 3ms}); }, {.delay = 3ms});
  cluster().close(drain_also_delayed());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status(), PromiseStatus::fulfilled);
}

// Rule: ABT-4
TEST_P(ClusterClose, close_when_waiting_for_delayed_tasks_then_not_for_aborted_ones) {
  AbortController controller;
  scheduler().post(note("ran"), {.signal = controller.signal(), .delay = 1h});
  bound(0).post(note("ran"), {.signal = controller.signal(), .delay = 1h});
  controller.abort();
  cluster().close(drain_also_delayed());
}

TEST_P(ClusterClose, close_when_the_deadline_comes_then_running_tasks_reject_at_once) {
  std::vector<Promise<int>> running;
  std::optional<Promise<void>> queued;
  const auto all_run = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(size()));
  test::Gate end;
  for (unsigned i = 0; i < size(); ++i) {
    running.push_back(scheduler().post_task(tracked([&end, all_run] {
      all_run->count_down();
      end.wait();
      return 1;
    })));
  }
  all_run->wait();
  queued = scheduler().post_task(note("ran"));
  const CloseReport report = cluster().close(CloseMode::drain_until(Clock::now() + 5ms));
  EXPECT_EQ(report.still_running, size());
  EXPECT_EQ(report.aborted + report.not_started, 1U);  // of one agent alone it is not dropped yet
  EXPECT_EQ(report.ran, 0U);
  for (const auto& promise : running) EXPECT_TRUE(test::is<AbortError>(promise.reason()));
  EXPECT_FALSE(scheduler().post(note("ran")));
  end.open();
  ASSERT_TRUE(settles(*queued));
  EXPECT_TRUE(test::is<AbortError>(queued->reason()));
  this->end();  // all are done with the gate
}

TEST_P(ClusterClose, close_when_the_deadline_is_far_then_it_does_not_wait_for_it) {
  scheduler().post(tracked([] {}));
  EXPECT_EQ(cluster().close(CloseMode::drain_until(Clock::now() + 1h)).still_running, 0U);
}

TEST_P(ClusterClose, close_when_aborting_then_promises_reject_and_callbacks_go) {
  std::vector<Promise<void>> promises;
  CloseReport report;
  {
    HeldAgents held(cluster());
    TaskController controller;
    for (int i = 0; i < 300; ++i) {
      PostTaskOptions options{.delay = i % 5 == 0 ? Delay(1h) : Delay()};
      if (i % 2 == 0) options.signal = controller.signal();
      promises.push_back(scheduler().post_task(note("ran"), options));
    }
    promises.push_back(bound(0).post_task(note("ran"), {.priority = background}));
    std::thread closer([&] { report = cluster().close(CloseMode::abort()); });
    for (unsigned agent = 0; agent < size(); ++agent) {
      ASSERT_TRUE(comes_true([&] { return !bound(agent).post([] {}, {.priority = background}); }));
    }
    held.let_go();
    closer.join();
  }
  for (const auto& promise : promises) EXPECT_TRUE(test::is<AbortError>(promise.reason()));
  EXPECT_EQ(report.ran, size());  // those that were held
  EXPECT_GE(report.aborted, promises.size());
}

/// What an agent's task waits for that nobody may start any more: it would wait, and the close with
/// it, for ever.
class ClusterCloseAwaited : public ClusterOf {
 protected:
  /// Closes while a task waits for what `post` has posted, in the task.
  template <class Post>
  void close_while_a_task_waits_for(Post post) {
    const auto waits = bound(0).post_task([&, post] {
      const auto awaited = post();
      begun.open();
      return settles(awaited) && awaited.status() == PromiseStatus::rejected;
    });
    begun.wait();
    cluster().close(CloseMode::abort());
    EXPECT_TRUE(waits.get());
  }

  test::Gate begun;
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterCloseAwaited, testing::Values(2U, many_agents()), size_name);

TEST_P(ClusterCloseAwaited, delayed_task_when_aborting_then_it_rejects) {
  close_while_a_task_waits_for(
      [this] { return scheduler().post_task(tracked([] {}), {.delay = 1h}); });
}

TEST_P(ClusterCloseAwaited, task_of_a_suspended_scheduler_when_aborting_then_it_rejects) {
  scheduler().suspend();
  close_while_a_task_waits_for([this] { return scheduler().post_task(tracked([] {})); });
}

TEST_P(ClusterCloseAwaited, delayed_task_of_a_suspended_scheduler_when_aborting_then_it_rejects) {
  scheduler().suspend();
  close_while_a_task_waits_for(
      [this] { return scheduler().post_task(tracked([] {}), {.delay = 1h}); });
}

TEST_P(ClusterClose, post_when_a_close_by_abort_waits_for_an_agent_then_refused) {
  HeldAgents held(cluster());
  std::thread closer([&] { cluster().close(CloseMode::abort()); });
  for (unsigned agent = 0; agent < size(); ++agent) {
    EXPECT_TRUE(comes_true([&] { return !bound(agent).post([] {}); }));
  }
  const auto promise = scheduler().post_task(note("ran"));
  held.let_go();
  closer.join();
  EXPECT_TRUE(test::is<InvalidStateError>(promise.reason()));
}

// What a signal aborted is not the close's.
TEST_P(ClusterClose, close_when_tasks_were_aborted_before_then_they_are_not_counted) {
  CloseReport report;
  HeldAgents held(cluster());
  AbortController controller;
  for (int i = 0; i < 5; ++i) {
    scheduler().post(note("ran"), {.signal = controller.signal()});
    scheduler().post(note("ran"), {.signal = controller.signal(), .delay = 1h});
    bound(0).post(note("ran"), {.signal = controller.signal()});
  }
  controller.abort();
  std::thread closer([&] { report = cluster().close(CloseMode::abort()); });
  std::uint64_t posted = 0;
  for (unsigned agent = 0; agent < size(); ++agent) {
    ASSERT_TRUE(comes_true([&] { return !bound(agent).post([] {}) || (++posted, false); }));
  }
  held.let_go();
  closer.join();
  EXPECT_EQ(report, (CloseReport{.ran = size(), .aborted = posted}));  // those that were held
}

// Rule: ABT-5. The first agent that leaves takes it out of the wheel, the last one disposes of it.
TEST_P(ClusterClose, close_when_a_delayed_task_was_aborted_just_before_then_nothing_is_left_of_it) {
  const auto kept = std::make_shared<int>(0);
  {
    TaskController controller;
    const auto task =
        scheduler().post_task(note("ran"), {.signal = controller.signal(), .delay = 1h});
    fall_asleep();  // it is in the wheel
    HeldAgents held(cluster());
    controller.abort(Reason(kept));
    std::thread closer([&] { cluster().close(CloseMode::abort()); });
    for (unsigned agent = 0; agent < size(); ++agent) {
      ASSERT_TRUE(comes_true([&] { return !bound(agent).post([] {}); }));
    }
    held.let_go();
    closer.join();
  }
  end();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_P(ClusterClose, close_when_a_coroutine_waits_then_its_frame_goes_and_its_promise_rejects) {
  const auto awaited = later<void>();
  Countdown to_start(2);
  const auto waiting = scheduler().post_task([this, &awaited, &to_start]() -> Promise<void> {
    const auto alive = callbacks.probe();
    to_start.done();
    co_await awaited.promise;
  });
  const auto sleeping = scheduler().post_task([this, &to_start]() -> Promise<void> {
    const auto alive = callbacks.probe();
    to_start.done();
    co_await sleep_for(1h);
  });
  ASSERT_TRUE(to_start.ends());
  cluster().close(CloseMode::abort());
  EXPECT_EQ(sleeping.status(), PromiseStatus::rejected);
  EXPECT_FALSE(waiting.settled());  // until what it awaits settles (LIF-1)
  awaited.resolve();
  EXPECT_EQ(waiting.status(), PromiseStatus::rejected);
}

TEST_P(ClusterClose, close_when_aborting_then_a_yielded_coroutine_is_destroyed) {
  HeldAgents held(cluster());
  std::vector<Promise<void>> promises;
  test::Gate yielded;
  held.let_go(0);
  for (int i = 0; i < 5; ++i) {
    promises.push_back(scheduler().post_task([this]() -> Promise<void> {
      const auto alive = callbacks.probe();
      for (;;) co_await heist::yield();
    }));
  }
  held.let_go();
  cluster().close(CloseMode::abort());
  for (const auto& promise : promises) EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

TEST_P(ClusterClose, post_when_closed_then_refused) {
  TaskController controller;
  cluster().close(CloseMode::drain());
  for (const auto& options : {PostTaskOptions{}, PostTaskOptions{.delay = 1ms},
                              PostTaskOptions{.signal = controller.signal()},
                              PostTaskOptions{.signal = controller.signal(), .delay = 1ms}}) {
    EXPECT_FALSE(scheduler().post(note("ran"), options));
    EXPECT_FALSE(bound(0).post(note("ran"), options));
    EXPECT_TRUE(test::is<InvalidStateError>(scheduler().post_task(note("ran"), options).reason()));
  }
  EXPECT_FALSE(cluster().agent(0).queue_task(TaskSource::io, note("ran")));
  const Promise<void> turn = scheduler().yield();
  EXPECT_TRUE(test::is<InvalidStateError>(turn.reason()));
  const auto reaction = Promise<int>::resolved(1).then(scheduler(), [](int) {});
  EXPECT_TRUE(test::is<InvalidStateError>(reaction.reason()));
}

TEST_P(ClusterClose, close_when_on_an_agents_own_thread_then_not_allowed) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    const auto promise = bound(agent).post_task([this] { cluster().close(CloseMode::drain()); });
    ASSERT_TRUE(settles(promise));
    EXPECT_TRUE(test::is<NotAllowedError>(promise.reason()));
  }
  ASSERT_TRUE(settles(scheduler().post_task([] {})));
}

TEST_P(ClusterClose, close_when_of_a_member_then_not_allowed) {
  EXPECT_THROW(cluster().agent(size() - 1).close(CloseMode::drain()), NotAllowedError);
  ASSERT_TRUE(settles(scheduler().post_task([] {})));
}

TEST_P(ClusterClose, close_when_several_threads_close_then_all_return_and_have_the_report) {
  scheduler().post(note("ran"), {.delay = 1h});
  std::atomic<std::uint64_t> aborted{0};
  std::vector<std::thread> closers;
  for (int i = 0; i < 4; ++i) {
    closers.emplace_back([&] { aborted += cluster().close(CloseMode::drain()).aborted; });
  }
  for (auto& closer : closers) closer.join();
  EXPECT_EQ(aborted.load(), 4U);
}

// Rules: LIF-1, LIF-2: the posters go on while the cluster goes.
TEST_P(ClusterClose,
       post_when_the_cluster_is_closed_and_destroyed_meanwhile_then_each_callback_goes_once) {
  for (int round = 0; round < 60; ++round) {
    AgentCluster own({.agents = size()});
    std::optional<AgentCluster> closing(std::in_place, AgentClusterOptions{.agents = size()});
    TaskController controller;
    std::vector<std::thread> posters;
    std::vector<Promise<void>> promises[2];
    for (int poster = 0; poster < 2; ++poster) {
      posters.emplace_back(
          [&, poster, to = closing->scheduler(), on_agent = closing->agent(0).scheduler()] {
            for (int i = 0; i < 200; ++i) {
              PostTaskOptions options;
              if (i % 3 == 0) options.signal = controller.signal();
              if (i % 7 == 0) options.delay = std::chrono::microseconds(i);
              promises[poster].push_back(
                  (i % 5 == 0 ? on_agent : to).post_task(tracked([] {}), options));
            }
          });
    }
    if (round % 4 == 0) closing->close(CloseMode::drain());
    if (round % 4 == 1) closing->close(CloseMode::abort());
    if (round % 4 == 2) closing->close(CloseMode::drain_until(Clock::now()));
    closing.reset();
    for (auto& poster : posters) poster.join();
    for (const auto& each : promises) {
      for (const auto& promise : each) ASSERT_TRUE(settles(promise));
    }
    EXPECT_EQ(callbacks.alive(), 0);
  }
}

}  // namespace
}  // namespace heist::support
