// Agents with a host (AgentHost): they sleep in it, and tasks and events take turns.
#include <heist/agent_host.hpp>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "cluster/cluster_fixture.hpp"
#include "support/queue_host.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using test::QueueHost;
using Calls = QueueHost::Calls;

/// A host for each agent.
class Hosts {
 public:
  Hosts(unsigned agents, Calls calls) {
    for (unsigned agent = 0; agent < agents; ++agent)
      hosts_.push_back(std::make_unique<QueueHost>(calls));
  }
  [[nodiscard]] std::vector<AgentHost*> all() const {
    std::vector<AgentHost*> all;
    for (const auto& host : hosts_) all.push_back(host.get());
    return all;
  }
  [[nodiscard]] QueueHost& operator[](unsigned agent) const { return *hosts_[agent]; }

 private:
  std::vector<std::unique_ptr<QueueHost>> hosts_;
};

class HostedAgents : public ClusterFixture,
                     public testing::WithParamInterface<std::tuple<unsigned, Calls>> {
 protected:
  void SetUp() override { start({.hosts = hosts.all()}); }

  /// Calls `event()` on the agent while all agents sleep.
  void call_asleep(unsigned agent, std::function<void()> event) {
    fall_asleep();
    hosts[agent].post(std::move(event));
  }

  Hosts hosts{std::get<0>(GetParam()), std::get<1>(GetParam())};
};

std::string name_of(const testing::TestParamInfo<std::tuple<unsigned, Calls>>& info) {
  const bool in_wait = std::get<1>(info.param) == Calls::in_wait;
  return "agents_" + std::to_string(std::get<0>(info.param)) + (in_wait ? "_in_wait" : "_in_poll");
}

const auto both_calls = testing::Values(Calls::in_poll, Calls::in_wait);
INSTANTIATE_TEST_SUITE_P(Sizes, HostedAgents,
                         testing::Combine(testing::Values(1U, 2U, 8U), both_calls), name_of);

// Rule: HOST-1
TEST_P(HostedAgents, event_when_all_sleep_then_its_agent_calls_it) {
  for (unsigned agent = 0; agent < size(); ++agent) {
    const auto on = later<std::optional<unsigned>>();
    call_asleep(agent, [&] { on.resolve(agent_here(cluster())); });
    EXPECT_EQ(on.promise.get(), agent);
  }
}

// Rule: HOST-2
TEST_P(HostedAgents, post_when_all_sleep_then_an_agent_wakes) {
  for (int at = 0; at < 50; ++at) {
    fall_asleep();
    EXPECT_TRUE(settles(scheduler().post_task([] {})));
    EXPECT_TRUE(settles(bound(size() - 1).post_task([] {})));
  }
}

// Rule: HOST-2
TEST_P(HostedAgents, delay_when_all_sleep_then_it_ends) {
  EXPECT_TRUE(settles(scheduler().post_task([] {}, {.delay = 2ms})));
  EXPECT_TRUE(settles(bound(size() - 1).post_task([] {}, {.delay = 2ms})));
}

// Rule: HOST-1
TEST_P(HostedAgents, tasks_and_events_when_both_go_on_for_ever_then_neither_starves) {
  constexpr int enough = 1'000;
  std::atomic<bool> ends{false};
  std::vector<std::atomic<int>> events(size());
  std::atomic<int> tasks{0};
  std::function<void(unsigned)> event = [&](unsigned agent) {
    ++events[agent];
    if (!ends) hosts[agent].post([&event, agent] { event(agent); });
  };
  std::function<void()> task = [&] {
    ++tasks;
    if (!ends) scheduler().post(std::cref(task));
  };
  for (unsigned agent = 0; agent < size(); ++agent) {
    event(agent);
    for (int at = 0; at < 2; ++at) task();
  }
  EXPECT_TRUE(comes_true([&] { return tasks >= enough; }));
  for (auto& of_agent : events) EXPECT_TRUE(comes_true([&] { return of_agent >= enough / 10; }));
  ends = true;
  static_cast<void>(cluster().close(CloseMode::abort()));  // nothing uses what ends here
}

// Rule: HOST-3
TEST_P(HostedAgents, event_when_it_lasts_then_others_take_what_it_and_others_post) {
  if (size() == 1) GTEST_SKIP() << "there is no other agent";
  const auto done = later<bool>();
  call_asleep(0, [&] {
    Countdown own(10);
    for (int at = 0; at < 10; ++at) scheduler().post([&own] { own.done(); });
    Countdown of_others(10);
    on_thread([&] {
      for (int at = 0; at < 10; ++at) scheduler().post([&of_others] { of_others.done(); });
    });
    const bool own_end = own.ends();
    done.resolve(own_end && of_others.ends());
  });
  EXPECT_TRUE(done.promise.get());
}

// Rule: HOST-3
TEST_P(HostedAgents, event_when_an_agent_was_woken_for_a_task_then_another_one_takes_that) {
  if (size() == 1) GTEST_SKIP() << "there is no other agent";
  for (int at = 0; at < 200; ++at) {
    const auto done = later<bool>();
    const auto ran = std::make_shared<Gate>();
    fall_asleep();
    hosts[0].post([&done, ran] { done.resolve(comes_true([&] { return ran->is_open(); })); });
    scheduler().post([ran] { ran->open(); });
    ASSERT_TRUE(done.promise.get());
  }
}

// Rule: HOST-3
TEST_P(HostedAgents, event_when_a_delay_ends_meanwhile_then_another_agent_looks_after_it) {
  if (size() == 1) GTEST_SKIP() << "there is no other agent";
  for (unsigned agent = 0; agent < size(); ++agent) {  // one of them is the watcher
    const auto ran = std::make_shared<Gate>();
    fall_asleep();
    scheduler().post([ran] { ran->open(); }, {.delay = 5ms});
    const auto done = later<bool>();
    hosts[agent].post([&done, ran] { done.resolve(comes_true([&] { return ran->is_open(); })); });
    EXPECT_TRUE(done.promise.get());
  }
}

// Rule: HOST-3
TEST_P(HostedAgents, event_when_it_settles_a_promise_then_its_reactions_run) {
  const auto first = later<int>();
  const auto second = scheduler().post_task(
      [promise = first.promise]() -> Promise<int> { co_return 1 + co_await promise; });
  call_asleep(size() - 1, [&] { first.resolve(1); });
  EXPECT_EQ(second.get(), 2);
}

// Rule: HOST-3
TEST_P(HostedAgents, close_when_an_event_lasts_then_it_waits_for_its_end) {
  std::atomic<bool> has_ended{false};
  Gate began;
  hosts[0].post([&, outside = scheduler()] {
    began.open();
    bool is_refused = false;
    while (!is_refused) on_thread([&] { is_refused = !outside.post([] {}); });
    has_ended = true;
  });
  began.wait();
  end();
  EXPECT_TRUE(has_ended);
}

// Rule: HOST-1
TEST_P(HostedAgents, close_when_events_are_left_then_they_are_not_called) {
  const auto called = std::make_shared<std::atomic<int>>(0);
  Gate held;
  Gate posted;
  bound(0).post([&] {
    held.open();
    posted.wait();
  });
  held.wait();
  std::thread closer([&] { static_cast<void>(cluster().close(CloseMode::abort())); });
  wait_until([this] { return !scheduler().post([] {}); });
  for (int at = 0; at < 10'000; ++at) hosts[0].post([called] { ++*called; });
  posted.open();
  closer.join();
  EXPECT_LT(*called, 10'000);
  EXPECT_FALSE(hosts[0].is_in_use());
}

// Rule: HOST-2
TEST_P(HostedAgents, drain_when_hosts_wait_then_it_runs_all_tasks) {
  std::atomic<int> ran{0};
  fall_asleep();
  for (int at = 0; at < 1'000; ++at) scheduler().post([&] { ++ran; });
  EXPECT_EQ(cluster().close(CloseMode::drain()).aborted, 0U);
  EXPECT_EQ(ran, 1'000);
}

// Rule: HOST-2
TEST_P(HostedAgents, storm_when_agents_fall_asleep_all_the_time_then_no_wake_up_is_lost) {
  constexpr int rounds = 2'000;
  for (int at = 0; at < rounds; ++at) {
    const unsigned agent = static_cast<unsigned>(at) % size();
    const auto done = later<void>();
    hosts[agent].post(
        [&] { scheduler().post([&] { bound(agent).post([&] { done.resolve(); }); }); });
    ASSERT_TRUE(settles(done.promise));
  }
}

/// A host that cannot begin.
class BrokenHost final : public AgentHost {
 public:
  void begin(int /*wakeup_fd*/) override { throw std::runtime_error("no host"); }
  void poll() noexcept override {}
  void wait() noexcept override {}
  void end() noexcept override { ADD_FAILURE() << "it did not begin"; }
};

class AgentHostOptions : public RuntimeFixture {};

// Rule: HOST-1
TEST_F(AgentHostOptions, begin_when_it_throws_then_the_cluster_does_not_start) {
  QueueHost first(Calls::in_poll);
  BrokenHost second;
  EXPECT_THROW(AgentCluster({.hosts = {&first, &second}}), std::runtime_error);
  EXPECT_FALSE(first.is_in_use());
}

// Rule: HOST-1
TEST_F(AgentHostOptions, hosts_when_they_are_null_or_too_few_then_the_cluster_does_not_start) {
  QueueHost host(Calls::in_poll);
  EXPECT_THROW(AgentCluster({.agents = 2, .hosts = {&host}}), std::invalid_argument);
  EXPECT_THROW(AgentCluster({.hosts = {&host, nullptr}}), std::invalid_argument);
}

// Rule: HOST-1
TEST_F(AgentHostOptions, agent_when_it_is_alone_then_it_sleeps_in_its_host) {
  QueueHost host(Calls::in_poll);
  Agent agent({.host = &host});
  const auto on = later<Agent*>();
  host.post([&] { on.resolve(Agent::current()); });
  EXPECT_EQ(on.promise.get(), &agent);
  EXPECT_TRUE(settles(agent.scheduler().post_task([] {})));
}

// Rule: HOST-2
TEST_F(AgentHostOptions, spin_when_it_is_long_then_agents_still_sleep_in_their_hosts) {
  const Hosts hosts(1, Calls::in_poll);
  AgentCluster cluster({.hosts = hosts.all(), .loop = {.spin = 1s}});
  QueueHost host(Calls::in_poll);
  Agent alone({.host = &host, .loop = {.spin = 1s}});
  for (const Agent* agent : {&std::as_const(cluster.agent(0)), &std::as_const(alone)}) {
    const auto sleeps = [agent] { return agent->stats().sleeps; };
    agent->scheduler().post_task([] {}).get();
    const auto before = agent->scheduler().post_task(sleeps).get();
    EXPECT_TRUE(comes_true([&] { return sleeps() > before; }));
  }
}

// Rule: HOST-1
TEST_F(AgentHostOptions, hot_phase_when_nothing_is_to_do_then_events_are_called) {
  for (const unsigned agents : {1U, 2U}) {
    const Hosts hosts(agents, Calls::in_poll);
    AgentCluster cluster({.hosts = hosts.all()});
    const auto hot = cluster.hot_phase();
    for (unsigned agent = 0; agent < agents; ++agent) {
      const auto called = later<void>();
      hosts[agent].post([&] { called.resolve(); });
      EXPECT_TRUE(settles(called.promise));
    }
  }
}

}  // namespace
}  // namespace heist::support
