// Rules: YLD-3, YLD-4, PRO-1…3: reactions, combinators and microtasks on a cluster.
#include <tuple>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ClusterPromise : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterPromise, sizes, size_name);

TEST_P(ClusterPromise, then_when_in_a_stealable_task_then_runs_with_its_scheduler) {
  const auto promise = scheduler().post_task([this] {
    return scheduler().post_task([] { return 1; }).then([this](int value) {
      return value == 1 && Scheduler::current() == scheduler();
    });
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterPromise, then_when_chained_a_thousand_times_then_each_runs_once) {
  const auto promise = scheduler().post_task([this] {
    auto chain = scheduler().post_task([] { return 0; });
    for (int i = 0; i < 1000; ++i) chain = chain.then([](int value) { return value + 1; });
    return chain;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 1000);
}

TEST_P(ClusterPromise, then_when_from_a_plain_thread_then_runs_on_an_agent) {
  const auto promise = Promise<int>::resolved(2).then(
      scheduler(), [this](int) { return agent_here(cluster()).has_value(); });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
}

TEST_P(ClusterPromise, then_when_the_source_rejects_then_it_passes_through_and_recovers) {
  const auto promise =
      scheduler()
          .post_task([]() -> int { throw std::runtime_error("no"); })
          .then(scheduler(), [](int value) { return value; })
          .then(scheduler(), [](int value) { return value; }, [](const Reason&) { return 9; });
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 9);
}

// Rule: YLD-4: a reaction takes its priority from the state it was made in, also when that changes.
TEST_P(ClusterPromise, then_when_the_signal_of_its_state_is_raised_then_it_overtakes) {
  HeldAgents held(cluster());
  TaskController controller(background);
  const auto source = later<void>();
  held.let_go(0);
  const auto registered =
      scheduler().post_task([&] { static_cast<void>(source.promise.then(note("reaction"))); },
                            {.signal = controller.signal()});
  ASSERT_TRUE(settles(registered));
  test::Gate gate;
  test::Gate gated;
  bound(0).post([&] { gated.open(), gate.wait(); });
  gated.wait();
  source.resolve();
  const auto last = scheduler().post_task(note("visible"));
  controller.set_priority(user_blocking);
  gate.open();
  ASSERT_TRUE(settles(last));
  EXPECT_THAT(trace.take(), ElementsAre("reaction", "visible"));
}

TEST_P(ClusterPromise, when_all_when_inputs_are_everywhere_then_their_values_in_order) {
  const auto promise = scheduler().post_task([this] {
    std::vector<Promise<int>> inputs;
    for (int i = 0; i < 50; ++i) {
      const auto to = i % 2 == 0 ? scheduler() : bound(static_cast<unsigned>(i) % size());
      inputs.push_back(to.post_task([i] { return i; }));
    }
    return when_all(std::move(inputs));
  });
  ASSERT_TRUE(settles(promise));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(promise.get()[static_cast<std::size_t>(i)], i);
}

TEST_P(ClusterPromise, when_all_when_from_a_plain_thread_then_settles_too) {
  const auto promise = when_all(scheduler(), scheduler().post_task([] { return 1; }),
                                bound(0).post_task([] { return std::string("two"); }));
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(std::get<1>(promise.get()), "two");
}

TEST_P(ClusterPromise, when_any_and_race_when_one_is_first_then_it_decides) {
  const auto promise = scheduler().post_task([this]() -> Promise<int> {
    AbortController rest;
    auto failing = scheduler().post_task([]() -> int { throw std::runtime_error("not this one"); });
    auto late = scheduler().post_task([] { return 0; }, {.signal = rest.signal(), .delay = 1h});
    const auto either = when_any(failing, scheduler().post_task([] { return 5; }));
    const int any = co_await either;
    const auto earlier = race(scheduler().post_task([] { return 7; }), late);
    const int first = co_await earlier;
    rest.abort();
    co_return any + first;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 12);
}

// Rule: YLD-3
TEST_P(ClusterPromise,
       queue_microtask_when_in_a_stealable_task_then_next_on_its_agent_with_its_state) {
  const auto promise = scheduler().post_task([this] {
    const auto done = later<bool>();
    queue_microtask([this, here = agent_here(cluster()), done] {
      trace.add("microtask");
      done.resolve(agent_here(cluster()) == here && Scheduler::current() == scheduler());
    });
    trace.add("task");
    return done.promise;
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(promise.get());
  EXPECT_THAT(trace.take(), ElementsAre("task", "microtask"));
}

TEST_P(ClusterPromise, queue_microtask_when_it_throws_then_the_hook_hears) {
  scheduler().post([] { queue_microtask([] { throw std::runtime_error("micro"); }); });
  scheduler().post(
      [] { static_cast<void>(Promise<int>::rejected(Reason(std::runtime_error("unseen")))); });
  cluster().close(CloseMode::drain());
  EXPECT_THAT(errors.take(), testing::UnorderedElementsAre(
                                 RecordedError{ErrorOrigin::microtask, "micro"},
                                 RecordedError{ErrorOrigin::unobserved_rejection, "unseen"}));
}

// Rule: DLY-2
TEST_P(ClusterPromise, timeout_when_its_delay_is_over_then_aborts_in_a_plain_task_of_an_agent) {
  HeldAgents held(cluster());  // until somebody listens
  const auto signal = AbortSignal::timeout(scheduler(), 1ms);
  std::atomic<bool> plain{false};
  test::Gate heard;
  const auto subscription = signal.on_abort([&] {
    plain = agent_here(cluster()).has_value() && !Scheduler::current();
    heard.open();
  });
  const auto aborted = scheduler().post_task(note("ran"), {.signal = signal, .delay = 1h});
  held.let_go();
  ASSERT_TRUE(settles(aborted));
  EXPECT_TRUE(test::is<TimeoutError>(aborted.reason()));
  heard.wait();
  EXPECT_TRUE(plain.load());
}

TEST_P(ClusterPromise, timeout_when_in_a_stealable_task_then_aborts) {
  const auto promise = scheduler().post_task([]() -> Promise<void> {
    const auto signal = AbortSignal::timeout(1ms);
    co_await sleep_for(1h, signal);
  });
  ASSERT_TRUE(settles(promise));
  EXPECT_TRUE(test::is<TimeoutError>(promise.reason()));
}

TEST_P(ClusterPromise, timeout_when_dropped_before_then_nothing_is_left) {
  for (int i = 0; i < 1000; ++i) {
    static_cast<void>(AbortSignal::timeout(scheduler(), std::chrono::microseconds(i)));
    static_cast<void>(AbortSignal::timeout(scheduler(), 1h));
  }
  ASSERT_TRUE(settles(scheduler().post_task([] {}, {.delay = 3ms})));
}

// Rule: CLU-5
TEST_P(ClusterPromise, get_when_in_a_task_of_a_promise_another_agent_can_settle_then_waits) {
  if (size() == 1) {
    const auto refused =
        scheduler().post_task([this] { return scheduler().post_task([] { return 1; }).get(); });
    ASSERT_TRUE(settles(refused));
    EXPECT_TRUE(test::is<NotAllowedError>(refused.reason()));
    return;
  }
  const auto promise =
      scheduler().post_task([this] { return scheduler().post_task([] { return 1; }).get(); });
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 1);
}

}  // namespace
}  // namespace heist::support
