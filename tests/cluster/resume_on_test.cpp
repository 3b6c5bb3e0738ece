// Rule: YLD-1, YLD-3. A coroutine goes on where it hops to, with the state it has.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <optional>
#include <string>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

class ResumeOn : public ClusterOf {
 protected:
  /// There are fewer agents than a test has places: they come again.
  [[nodiscard]] Agent& agent(unsigned place) { return cluster().agent(place % size()); }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ResumeOn, sizes, size_name);
class ResumeOnAnother : public ResumeOn {};
INSTANTIATE_TEST_SUITE_P(Sizes, ResumeOnAnother, several_agents, size_name);

TEST_P(ResumeOn, a_bound_scheduler_then_on_its_agent_until_it_hops_again) {
  const auto coroutine = [this]() -> Promise<int> {
    int right = 0;
    for (unsigned i = 0; i < 30; ++i) {
      Agent& to = agent(i);
      co_await resume_on(to);
      co_await yield();
      right += Agent::current() == &to && Scheduler::current() == to.scheduler() ? 1 : 0;
    }
    co_return right;
  };
  EXPECT_EQ(scheduler().post_task([&] { return coroutine(); }).get(), 30);
}

TEST_P(ResumeOn, a_stealable_scheduler_then_its_state_says_so) {
  const auto coroutine = [this]() -> Promise<bool> {
    co_await resume_on(scheduler());
    const bool first = Scheduler::current() == scheduler();
    co_await yield();
    const bool second = Scheduler::current() == scheduler();
    co_return first&& second;
  };
  EXPECT_TRUE(agent(1).scheduler().post_task([&] { return coroutine(); }).get());
}

TEST_P(ResumeOnAnother, with_a_signal_then_it_is_inherited_there) {
  TaskController controller(TaskPriority::background);
  const auto coroutine = [&]() -> Promise<int> {
    co_await resume_on(agent(0));
    agent(1).scheduler().post_task([] {}).get();  // our task's callback has returned
    controller.abort(std::string("enough"));
    bool refused = false;
    try {
      co_await yield({inherit});
    } catch (const Aborted&) {
      refused = true;
    }
    co_return refused ? 1 : 0;
  };
  const auto result =
      agent(1).scheduler().post_task([&] { return coroutine(); }, {.signal = controller.signal()});
  EXPECT_EQ(result.get(), 1) << "the coroutine's own promise decides (ABT-6)";
}

TEST_P(ResumeOnAnother, aborted_while_it_waits_then_it_throws_where_it_goes_on) {
  TaskController controller;
  std::optional<bool> was_there;
  auto entered = Promise<void>::with_resolver();
  auto left = Promise<void>::with_resolver();
  agent(0).scheduler().post([&] {
    entered.resolver.resolve();
    left.promise.get();
  });
  entered.promise.get();
  const auto coroutine = [&]() -> Promise<void> {
    try {
      co_await resume_on(agent(0));
    } catch (const AbortError&) {
      was_there = Agent::current() == &agent(0);
    }
  };
  const auto result =
      agent(1).scheduler().post_task([&] { return coroutine(); }, {.signal = controller.signal()});
  agent(1).scheduler().post_task([] {}).get();
  controller.abort();
  left.resolver.resolve();
  result.get();
  EXPECT_EQ(was_there, true);
}

TEST_P(ResumeOn, from_a_plain_thread_then_user_visible) {
  const auto coroutine = [this]() -> Promise<bool> {
    co_await resume_on(agent(2));
    co_return Agent::current() == &agent(2);
  };
  EXPECT_TRUE(coroutine().get());
}

TEST_P(ResumeOn, a_closed_loop_then_it_throws_and_stays) {
  Agent closed;
  closed.close(CloseMode::abort());
  const auto coroutine = [&]() -> Promise<bool> {
    bool refused = false;
    try {
      co_await resume_on(closed);
    } catch (const InvalidStateError&) {
      refused = Scheduler::current() == agent(0).scheduler();
    }
    co_return refused;
  };
  EXPECT_TRUE(agent(0).scheduler().post_task([&] { return coroutine(); }).get());
}

TEST(ResumeOnAgents, between_agents_outside_of_any_cluster) {
  Agent first;
  Agent second;
  const auto coroutine = [&]() -> Promise<int> {
    int right = 0;
    for (int i = 0; i < 10; ++i) {
      co_await resume_on(first);
      right += Agent::current() == &first ? 1 : 0;
      co_await resume_on(second);
      right += Agent::current() == &second ? 1 : 0;
    }
    co_return right;
  };
  EXPECT_EQ(first.scheduler().post_task([&] { return coroutine(); }).get(), 20);
}

}  // namespace
}  // namespace heist::support
