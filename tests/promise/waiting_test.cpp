// Rule: PRO-2 (get and wait_for on plain threads), CLU-5 (not on the agent that is waited for).
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::Gate;
using test::LoopTest;

// Rule: PRO-2
TEST(Pro2Waiting, get_when_the_task_is_still_running_then_waits_for_it) {
  const Agent agent;
  Gate finish;
  const auto promise = agent.scheduler().post_task([&finish] {
    finish.wait();
    return 5;
  });
  EXPECT_FALSE(promise.settled());
  std::thread opener([&finish] { finish.open(); });
  EXPECT_EQ(promise.get(), 5);
  opener.join();
}

// Rule: PRO-2
TEST(Pro2Waiting, get_when_several_threads_wait_then_all_get_the_value) {
  const Agent agent;
  Gate finish;
  const auto promise = agent.scheduler().post_task([&finish] {
    finish.wait();
    return std::string("shared");
  });
  std::vector<std::string> seen(4);
  std::vector<std::thread> waiters;
  for (auto& value : seen) {
    waiters.emplace_back([promise, &value] { value = promise.get(); });
  }
  finish.open();
  for (auto& waiter : waiters) waiter.join();
  for (const auto& value : seen) EXPECT_EQ(value, "shared");
}

// Rule: PRO-2
TEST(Pro2Waiting, wait_for_when_the_time_runs_out_then_false_and_the_promise_still_settles) {
  const Agent agent;
  Gate finish;
  const auto promise = agent.scheduler().post_task([&finish] { finish.wait(); });
  EXPECT_FALSE(promise.wait_for(0ns));
  EXPECT_FALSE(promise.wait_for(1ms));
  EXPECT_FALSE(promise.wait_for(-1h));
  finish.open();
  promise.get();
}

// Rule: PRO-2
TEST(Pro2Waiting, wait_for_when_settled_in_time_then_true_also_for_rejections) {
  const Agent agent;
  EXPECT_TRUE(agent.scheduler().post_task([] {}).wait_for(test::patience));
  AbortController controller;
  const auto aborted =
      agent.scheduler().post_task([] {}, {.signal = controller.signal(), .delay = 1h});
  controller.abort();
  EXPECT_TRUE(aborted.wait_for(test::patience));
}

// Rule: PRO-2 (a time beyond the clock's range is no time at all)
TEST(Pro2Waiting,
     wait_for_when_the_time_is_longer_than_the_clock_reaches_then_waits_until_settled) {
  const Agent agent;
  Gate finish;
  const auto promise = agent.scheduler().post_task([&finish] { finish.wait(); });
  std::vector<bool> settled;
  std::thread waiter([&] {
    settled.push_back(promise.wait_for(std::chrono::nanoseconds::max()));
    settled.push_back(promise.wait_for(std::chrono::hours::max()));
  });
  finish.open();
  waiter.join();
  EXPECT_EQ(settled, (std::vector{true, true}));
}

// Rule: PRO-2 (the overflow of the time given must not be mistaken for a deadline in the past)
TEST(Pro2Waiting, wait_for_when_pending_and_the_time_is_endless_then_does_not_return_early) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  Gate returned;
  std::thread waiter([&returned, promise] {
    EXPECT_TRUE(promise.wait_for(std::chrono::nanoseconds::max()));
    returned.open();
  });
  EXPECT_FALSE(promise.wait_for(20ms));  // time for the other thread to return too early
  EXPECT_FALSE(returned.is_open());
  resolver.resolve();
  waiter.join();
}

class Clu5 : public LoopTest {
 protected:
  /// Whether get() and wait_for() both refuse to wait for `promise` on this thread.
  template <class T>
  static bool refused(const Promise<T>& promise) {
    // First the one that cannot hang.
    return test::throws<NotAllowedError>([&] { static_cast<void>(promise.wait_for(0ns)); }) &&
           test::throws<NotAllowedError>([&] { static_cast<void>(promise.get()); });
  }
};

// Rule: CLU-5
TEST_F(Clu5, get_when_an_agent_waits_for_its_own_task_then_not_allowed) {
  bool was_refused = false;
  bool ran = false;
  run_task([&] { was_refused = refused(scheduler.post_task([&ran] { ran = true; })); });
  EXPECT_TRUE(was_refused);
  EXPECT_TRUE(ran);  // refused to wait; the task is not harmed
}

// Rule: CLU-5
TEST_F(
    Clu5,
    get_when_an_agent_waits_for_a_delayed_task_of_another_scheduler_of_its_loop_then_not_allowed) {
  const auto other = loop.create_scheduler();
  bool was_refused = false;
  run_task([&] { was_refused = refused(other.post_task([] {}, {.delay = 5ms})); });
  EXPECT_TRUE(was_refused);
}

// Rule: CLU-5
TEST_F(Clu5, get_when_in_a_microtask_then_not_allowed) {
  bool was_refused = false;
  run_task([&] { queue_microtask([&] { was_refused = refused(scheduler.post_task([] {})); }); });
  EXPECT_TRUE(was_refused);
}

// Rule: CLU-5
TEST_F(Clu5, get_when_the_agent_waits_for_its_own_reaction_then_not_allowed) {
  bool was_refused = false;
  run_task([&] { was_refused = refused(Promise<void>::resolved().then([] {})); });
  EXPECT_TRUE(was_refused);
}

// Rule: CLU-5
TEST_F(Clu5,
       get_when_the_agent_waits_for_a_reaction_registered_with_its_scheduler_then_not_allowed) {
  bool was_refused = false;
  run_task([&, target = scheduler] {
    was_refused = refused(Promise<void>::resolved().then(target, [] {}));
  });
  EXPECT_TRUE(was_refused);
}

Promise<int> await(Promise<int> source) {
  const int value = co_await source;
  co_return value;
}

// Rule: CLU-5
TEST_F(Clu5, get_when_the_agent_waits_for_its_own_coroutine_then_not_allowed) {
  bool was_refused = false;
  auto [source, resolver] = Promise<int>::with_resolver();
  run_task([&, source] { was_refused = refused(await(source)); });
  resolver.resolve(1);
  EXPECT_TRUE(was_refused);
}

// Rule: CLU-5
TEST_F(Clu5, get_when_a_nested_loop_waits_for_the_outer_one_then_not_allowed) {
  bool was_refused = false;
  run_task([&] {
    const auto outer = scheduler.post_task([] {});
    EventLoop inner;
    inner.scheduler().post([&] { was_refused = refused(outer); });
    inner.run_until_idle();
  });
  EXPECT_TRUE(was_refused);
}

// Rule: CLU-5
TEST_F(Clu5, get_when_settled_already_then_allowed_on_the_agent) {
  int value = 0;
  run_task([&] {
    const auto settled = Promise<int>::resolved(6);
    EXPECT_TRUE(settled.wait_for(0ns));
    value = settled.get();
  });
  EXPECT_EQ(value, 6);
}

// Rule: CLU-5 (another agent settles it; unrelated tasks do not run meanwhile)
TEST(Clu5AcrossAgents, get_when_an_agent_waits_for_another_one_then_waits_and_runs_nothing) {
  bool other_ran = false;  // outlives the agents: the other task may run to the end
  const Agent waiting;
  const Agent working;
  const auto result = waiting.scheduler().post_task([&, scheduler = waiting.scheduler()] {
    scheduler.post([&other_ran] { other_ran = true; });
    const int value = working.scheduler().post_task([] { return 8; }).get();
    return std::pair(value, other_ran);
  });
  EXPECT_EQ(result.get(), (std::pair(8, false)));
}

// Rule: CLU-5
TEST(Clu5AcrossAgents, wait_for_when_an_agent_waits_for_another_one_then_it_may_time_out) {
  const Agent waiting;
  const Agent working;
  Gate finish;
  const auto busy = working.scheduler().post_task([&finish] { finish.wait(); });
  EXPECT_FALSE(waiting.scheduler().post_task([busy] { return busy.wait_for(1ms); }).get());
  finish.open();
  EXPECT_TRUE(
      waiting.scheduler().post_task([busy] { return busy.wait_for(test::patience); }).get());
}

// Rule: CLU-5 (the agent's thread is its thread in on_start, too)
TEST(Clu5AcrossAgents, wait_for_when_on_start_waits_for_a_task_of_its_agent_then_not_allowed) {
  bool was_refused = false;
  AgentOptions options;
  options.on_start = [&was_refused] {
    const auto promise = Agent::current()->scheduler().post_task([] {});
    was_refused = test::throws<NotAllowedError>([&] { static_cast<void>(promise.wait_for(0ns)); });
  };
  const Agent agent(std::move(options));
  EXPECT_TRUE(was_refused);
}

}  // namespace
}  // namespace heist
