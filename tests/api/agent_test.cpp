// Agent: a thread that owns one event loop. Rule: LIF-1, LIF-2, LIF-3; issue: name, affinity,
// hooks, current().
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <array>
#include <chrono>
#include <future>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::ErrorLog;
using test::Trace;

std::string name_of_this_thread() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

/// What the callback returns, run as a task of the agent.
template <class Callback>
auto on_agent(const Agent& agent, Callback callback) {
  return agent.scheduler().post_task(std::move(callback)).get();
}

TEST(AgentName, agent_when_named_then_its_thread_has_the_first_15_characters) {
  AgentOptions options;
  options.name = "a-rather-long-agent-name";
  const Agent agent(options);
  EXPECT_EQ(agent.name(), "a-rather-long-agent-name");
  EXPECT_EQ(on_agent(agent, name_of_this_thread), "a-rather-long-a");
}

TEST(AgentName, agent_when_not_named_then_the_default) {
  const Agent agent;
  EXPECT_EQ(on_agent(agent, name_of_this_thread), agent.name());
}

TEST(AgentName, name_when_read_in_on_start_then_set_already) {
  std::string seen;
  AgentOptions options;
  options.name = "starter";
  options.on_start = [&seen] { seen = name_of_this_thread(); };
  const Agent agent(std::move(options));
  EXPECT_EQ(seen, "starter");
}

/// The CPUs the calling thread may use.
std::vector<int> cpus_of_this_thread() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(AgentAffinity, agent_when_given_a_cpu_then_its_thread_runs_only_there) {
  const int last = cpus_of_this_thread().back();
  AgentOptions options;
  options.affinity = last;
  const Agent agent(options);
  EXPECT_EQ(on_agent(agent, cpus_of_this_thread), std::vector{last});
}

TEST(AgentAffinity, agent_when_given_no_cpu_then_it_may_use_all_of_its_maker) {
  const Agent agent;
  EXPECT_EQ(on_agent(agent, cpus_of_this_thread), cpus_of_this_thread());
}

TEST(AgentAffinity, agent_when_the_cpu_does_not_exist_then_system_error_that_names_it) {
  for (const int cpu : {-1, CPU_SETSIZE - 1, CPU_SETSIZE + 5}) {
    AgentOptions options;
    options.affinity = cpu;
    try {
      const Agent agent(options);
      ADD_FAILURE() << "an agent runs on CPU " << cpu;
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(cpu)), std::string::npos);
    }
  }
}

/// How late the calling thread's sleeps may end, in nanoseconds.
int slack_of_this_thread() { return prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL); }

TEST(AgentSleeps, sleeps_when_the_tick_is_short_then_end_as_exactly) {
  const Agent agent({.loop = {.tick = std::chrono::microseconds(10)}});
  EXPECT_EQ(on_agent(agent, slack_of_this_thread), 10'000);
}

TEST(AgentSleeps, sleeps_when_the_tick_is_long_then_end_as_the_makers) {
  const Agent agent;
  EXPECT_EQ(on_agent(agent, slack_of_this_thread), slack_of_this_thread());
}

TEST(AgentHooks, hooks_when_given_then_run_on_the_agents_thread_around_its_tasks) {
  Trace trace;
  std::vector<std::thread::id> threads;
  const auto note = [&](const char* what) {
    trace.emplace_back(what);
    threads.push_back(std::this_thread::get_id());
  };
  AgentOptions options;
  options.on_start = [&] { note("start"); };
  options.on_stop = [&] { note("stop"); };
  {
    const Agent agent(std::move(options));
    agent.scheduler().post_task([&] { note("task"); }).get();
  }
  EXPECT_EQ(trace, (Trace{"start", "task", "stop"}));
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads[0], threads[1]);
  EXPECT_EQ(threads[1], threads[2]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(AgentHooks, on_start_when_it_posts_then_the_task_runs_afterwards) {
  Trace trace;
  AgentOptions options;
  options.on_start = [&] {
    Agent::current()->scheduler().post([&] { trace.emplace_back("task"); });
    trace.emplace_back("end of on_start");
  };
  Agent agent(std::move(options));
  agent.close(CloseMode::drain());
  EXPECT_EQ(trace, (Trace{"end of on_start", "task"}));
}

// Rule: LIF-1
TEST(AgentHooks, on_stop_when_it_posts_then_refused) {
  std::optional<bool> accepted;
  AgentOptions options;
  options.on_stop = [&] { accepted = Agent::current()->scheduler().post([] {}); };
  {
    const Agent agent(std::move(options));
  }
  EXPECT_EQ(accepted, false);
}

bool is_refused_elsewhere(Timeout& timeout) {
  return std::async(
             std::launch::async,
             [&timeout] { return test::throws<NotAllowedError>([&timeout] { timeout.clear(); }); })
      .get();
}

struct Probe {
  std::shared_ptr<void> at_destruction;
};

// The destructor of an exception that on_start has met runs when the agent is done with on_start,
// and before it is done with its first task.
TEST(AgentHooks, clear_when_on_another_thread_right_after_on_start_then_refused) {
  Timeout timeout;
  bool refused = false;
  const auto ask = [&](void* /*nothing*/) { refused = is_refused_elsewhere(timeout); };
  AgentOptions options;
  options.on_start = [&timeout, &ask] {
    timeout = set_timeout([] {}, std::chrono::hours(1));
    const auto failed = Promise<void>::rejected(
        Reason(std::make_exception_ptr(Probe{std::shared_ptr<void>(nullptr, ask)})));
    EXPECT_THROW(failed.get(), Probe);
  };
  {
    const Agent agent(std::move(options));
    agent.scheduler().post_task([] {}).get();
  }
  EXPECT_TRUE(refused);
}

TEST(AgentHooks, on_start_when_it_throws_then_the_constructor_throws_that) {
  const auto probe = std::make_shared<int>();
  AgentOptions options;
  options.on_start = [probe] { throw std::domain_error("cannot start"); };
  EXPECT_THROW(const Agent agent(std::move(options)), std::domain_error);
  options = {};
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: LIF-1, LIF-2
TEST(AgentHooks, on_start_when_it_throws_after_it_posted_then_that_promise_rejects) {
  auto promise = Promise<void>::resolved();
  AgentOptions options;
  options.on_start = [&promise] {
    promise = Agent::current()->scheduler().post_task([] {});
    throw std::domain_error("cannot start");
  };
  EXPECT_THROW(const Agent agent(std::move(options)), std::domain_error);
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

// Rule: LIF-3
TEST(AgentHooks, on_stop_when_it_throws_then_reported_and_the_agent_ends) {
  const ErrorLog log;
  AgentOptions options;
  options.on_stop = [] { throw std::domain_error("while stopping"); };
  {
    const Agent agent(std::move(options));
  }
  const auto entries = ErrorLog::take();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].reason.what(), "while stopping");
}

TEST(AgentCurrent, current_when_on_an_agents_thread_then_that_agent) {
  const Agent first;
  const Agent second;
  EXPECT_EQ(on_agent(first, &Agent::current), &first);
  EXPECT_EQ(on_agent(second, &Agent::current), &second);
}

TEST(AgentCurrent, current_when_on_a_plain_thread_or_an_embedded_loop_then_null) {
  EXPECT_EQ(Agent::current(), nullptr);
  EventLoop loop;
  const auto seen = loop.scheduler().post_task(&Agent::current);
  loop.run_until_idle();
  EXPECT_EQ(seen.get(), nullptr);
}

TEST(AgentCurrent, current_when_in_the_hooks_then_the_agent) {
  std::vector<const Agent*> seen;
  AgentOptions options;
  options.on_start = options.on_stop = [&seen] { seen.push_back(Agent::current()); };
  std::optional<Agent> agent(std::in_place, std::move(options));
  const Agent* const address = &*agent;
  agent.reset();
  EXPECT_EQ(seen, (std::vector{address, address}));
}

TEST(AgentOptionsBad, agent_when_asked_for_a_virtual_clock_then_invalid_argument) {
  AgentOptions options;
  options.loop = test::on_virtual_clock();
  EXPECT_THROW(Agent{options}, std::invalid_argument);
}

// Rule: CLU-5 (it would wait for itself)
TEST(AgentClose, close_when_called_by_a_task_of_the_agent_then_not_allowed_and_it_goes_on) {
  Agent agent;
  const bool refused = on_agent(agent, [&agent] {
    return test::throws<NotAllowedError>([&] { agent.close(CloseMode::drain()); });
  });
  EXPECT_TRUE(refused);
  EXPECT_EQ(on_agent(agent, [] { return 1; }), 1);
}

// Rule: LIF-2
TEST(AgentClose, agent_when_made_and_destroyed_by_a_task_of_another_then_harmless) {
  const Agent outer;
  const int value = on_agent(outer, [] {
    const Agent inner;
    return inner.scheduler().post_task([] { return 3; }).get();
  });
  EXPECT_EQ(value, 3);
  EXPECT_EQ(on_agent(outer, [] { return 4; }), 4);
}

// Rule: LIF-3
TEST(AgentFaults, WPT_PT_04_agent_when_tasks_throw_then_its_thread_survives) {
  const ErrorLog log;
  const Agent agent;
  const auto before = on_agent(agent, [] { return std::this_thread::get_id(); });
  agent.scheduler().post([] { throw std::runtime_error("1"); });
  const auto failed = agent.scheduler().post_task([] { throw 2; });
  EXPECT_EQ(on_agent(agent, [] { return std::this_thread::get_id(); }), before);
  EXPECT_THROW(failed.get(), int);
  EXPECT_EQ(ErrorLog::take().size(), 1U);
}

TEST(AgentStats, stats_when_tasks_have_run_then_counted) {
  const Agent agent;
  for (int i = 0; i < 3; ++i) on_agent(agent, [] {});
  EXPECT_EQ(agent.stats().tasks_run, 3U);
}

}  // namespace
}  // namespace heist
