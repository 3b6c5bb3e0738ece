// Rules: LIF-2: handles, signals and promises in any order of destruction against a cluster; how it
//         starts.
#include <sched.h>
#include <stdlib.h>

#include <stdexcept>

#include "cluster/cluster_fixture.hpp"
#include "heist/os/thread.hpp"
#include "support/pool_memory.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;

class ClusterLifetime : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterLifetime, sizes, size_name);
class ClusterStart : public ClusterFixture {};

TEST_P(ClusterLifetime, cluster_when_destroyed_first_then_everything_else_works_on_and_goes) {
  TaskController controller;
  auto dependent = std::make_optional(TaskSignal::any({controller.signal()}, controller.signal()));
  auto timeout = std::make_optional(AbortSignal::timeout(scheduler(), 1h));
  auto kept = std::make_optional(scheduler());
  auto promise =
      std::make_optional(scheduler().post_task(note("ran"), {.signal = *dependent, .delay = 1h}));
  static_cast<void>(
      scheduler().post_task([] {}, {.signal = controller.signal()}).wait_for(test::patience));
  end();
  EXPECT_TRUE(test::is<AbortError>(promise->reason()));
  controller.set_priority(background);
  EXPECT_FALSE(kept->post(note("ran"), {.signal = controller.signal()}));
  controller.abort();
  EXPECT_FALSE(kept->post(note("ran")));
  timeout.reset();
  dependent.reset();
  kept.reset();
  promise.reset();
}

TEST_P(ClusterLifetime, signal_when_destroyed_first_then_its_tasks_run) {
  HeldAgents held(cluster());
  auto controller = std::make_optional<TaskController>();
  std::vector<Promise<int>> promises;
  for (int i = 0; i < 50; ++i) {
    promises.push_back(
        scheduler().post_task(tracked([i] { return i; }), {.signal = controller->signal()}));
    promises.push_back(scheduler().post_task(tracked([i] { return i; }),
                                             {.signal = controller->signal(), .delay = 1ms}));
  }
  controller.reset();
  held.let_go();
  for (const auto& promise : promises) ASSERT_TRUE(settles(promise));
}

TEST_P(ClusterLifetime, signal_when_destroyed_by_its_own_task_then_the_others_run) {
  auto controller = std::make_shared<TaskController>();
  std::vector<Promise<void>> promises;
  for (int i = 0; i < 50; ++i) {
    promises.push_back(
        scheduler().post_task(tracked([controller] {}), {.signal = controller->signal()}));
  }
  controller.reset();
  for (const auto& promise : promises) ASSERT_TRUE(settles(promise));
}

TEST_P(ClusterLifetime, signal_when_of_two_clusters_then_each_has_its_tasks) {
  TaskController controller(background);
  {
    AgentCluster other({.agents = size()});
    const HeldAgents held(cluster());
    const HeldAgents held_too(other);
    for (int i = 0; i < 20; ++i) {
      scheduler().post(note("here"), {.signal = controller.signal()});
      other.scheduler().post(note("there"), {.signal = controller.signal()});
    }
    controller.set_priority(user_blocking);
  }
  const auto last =
      scheduler().post_task([] {}, {.signal = controller.signal(), .priority = background});
  controller.set_priority(user_visible);
  ASSERT_TRUE(settles(last));
  cluster().close(CloseMode::drain());
  static_cast<void>(trace.take());
}

TEST_P(ClusterLifetime, promise_when_it_outlives_the_cluster_then_its_value_stays) {
  const auto promise = scheduler().post_task([] { return std::string("value"); });
  ASSERT_TRUE(settles(promise));
  end();
  EXPECT_EQ(promise.get(), "value");
}

TEST_P(ClusterLifetime,
       resolver_when_a_settled_promise_lets_the_cluster_go_then_nothing_is_touched_late) {
  for (int round = 0; round < 100; ++round) {
    auto own = std::make_optional<AgentCluster>(AgentClusterOptions{.agents = size()});
    auto start = later<void>();
    const auto end = own->scheduler().post_task(
        [awaited = start.promise]() -> Promise<void> { co_await awaited; });
    std::thread settler([resolver = std::move(start.resolver)] { resolver->resolve(); });
    ASSERT_TRUE(settles(end));
    own.reset();
    settler.join();
  }
}

TEST_P(ClusterLifetime, callback_when_its_destructor_uses_the_closing_cluster_then_it_is_refused) {
  std::atomic<int> destroyed{0};
  for (const Delay delay : {Delay(), Delay(1h)}) {
    scheduler().post([end = AtDestruction([&destroyed, to = scheduler()] {
                        to.post([] {});
                        to.post([] {}, {.delay = 1h});
                        ++destroyed;
                      })] {},
                     {.delay = delay});
  }
  cluster().close(CloseMode::abort());
  EXPECT_EQ(destroyed.load(), 2);
}

TEST_P(ClusterLifetime, callback_when_its_destructor_aborts_and_settles_then_the_close_ends) {
  TaskController controller;
  const auto aborted =
      scheduler().post_task(note("ran"), {.signal = controller.signal(), .delay = 1h});
  const auto awaited = later<int>();
  const auto reaction = awaited.promise.then(scheduler(), [](int) {});
  scheduler().post([end = AtDestruction([&] {
                      controller.set_priority(background);
                      controller.abort();
                      awaited.resolve(1);
                    })] {},
                   {.delay = 1h});
  cluster().close(CloseMode::abort());
  EXPECT_EQ(aborted.status(), PromiseStatus::rejected);
  ASSERT_TRUE(settles(reaction));
}

TEST_P(ClusterLifetime, set_priority_when_the_cluster_closes_meanwhile_then_every_promise_settles) {
  for (int round = 0; round < 100; ++round) {
    auto own = std::make_optional<AgentCluster>(AgentClusterOptions{.agents = size()});
    std::vector<TaskController> controllers(3);
    std::vector<Promise<void>> promises;
    std::atomic<bool> closed{false};
    {
      const HeldAgents held(*own);
      for (std::size_t i = 0; i < 60; ++i) {
        promises.push_back(
            own->scheduler().post_task(tracked([] {}), {.signal = controllers[i % 3].signal()}));
      }
    }
    std::thread changer([&] {
      for (int turn = 0; !closed; ++turn) {
        for (auto& each : controllers)
          each.set_priority(turn % 2 == 0 ? background : user_blocking);
      }
    });
    own.reset();
    closed = true;
    changer.join();
    for (const auto& promise : promises) EXPECT_TRUE(promise.settled());
  }
}

TEST_P(ClusterLifetime, cluster_when_many_come_and_go_then_memory_is_flat) {
  const auto rounds = [this](int count) {
    for (int i = 0; i < count; ++i) {
      AgentCluster own({.agents = size()});
      TaskController controller;
      for (int task = 0; task < 50; ++task) {
        own.scheduler().post(tracked([] {}), {.signal = controller.signal()});
      }
      own.scheduler().post(tracked([] {}), {.signal = controller.signal(), .delay = 1h});
    }
  };
  rounds(20);
  const auto before = held_by_pool();
  rounds(60);
  EXPECT_LE(held_by_pool(), before + flat);
}

TEST_F(ClusterStart, constructor_when_too_many_agents_or_a_virtual_clock_then_refused) {
  EXPECT_THROW(AgentCluster({.agents = 1025}), std::invalid_argument);
  EXPECT_THROW(AgentCluster({.agents = 2, .loop = test::on_virtual_clock()}),
               std::invalid_argument);
  EXPECT_EQ(AgentCluster({.agents = 1024}).size(), 1024U);
}

TEST_F(ClusterStart, constructor_when_no_number_is_given_then_the_variable_counts) {
  ASSERT_EQ(setenv("HEIST_AGENTS", "3", 1),
            0);  // NOLINT(concurrency-mt-unsafe): no other thread yet
  EXPECT_EQ(AgentCluster().size(), 3U);
  EXPECT_EQ(AgentCluster({.agents = 2}).size(), 2U);
  ASSERT_EQ(setenv("HEIST_AGENTS", "three", 1), 0);  // NOLINT(concurrency-mt-unsafe): as above
  EXPECT_THROW(AgentCluster(), std::invalid_argument);
  ASSERT_EQ(unsetenv("HEIST_AGENTS"), 0);  // NOLINT(concurrency-mt-unsafe): as above
  EXPECT_GE(AgentCluster().size(), 1U);
  const auto cpu = CpuSet().cpus().front();
  EXPECT_EQ(AgentCluster({.topology = {{cpu}, {cpu}}}).size(), 1U) << "one CPU is to be used";
}

TEST_F(ClusterStart, agent_when_there_is_none_of_that_index_then_out_of_range) {
  const AgentCluster own({.agents = 2});
  EXPECT_THROW(static_cast<void>(own.agent(2)), std::out_of_range);
  EXPECT_EQ(own.agent(1).name(), "heist-1");
}

TEST_F(ClusterStart, on_start_and_on_stop_when_given_then_once_on_each_agent) {
  std::array<std::atomic<int>, 3> starts{};
  std::array<std::atomic<int>, 3> stops{};
  {
    const AgentCluster own({.agents = 3,
                            .on_start = [&](unsigned agent) { ++starts[agent]; },
                            .on_stop = [&](unsigned agent) { ++stops[agent]; }});
    for (const auto& each : starts) EXPECT_EQ(each.load(), 1);
    for (const auto& each : stops) EXPECT_EQ(each.load(), 0);
  }
  for (const auto& each : stops) EXPECT_EQ(each.load(), 1);
}

TEST_F(ClusterStart, constructor_when_on_start_throws_then_the_others_end_and_it_throws) {
  for (unsigned agents : {1U, 2U, 3U, 8U}) {
    for (unsigned failing = 0; failing < agents; ++failing) {
      std::atomic<unsigned> stopped{0};
      const auto starting = [&](unsigned agent) {
        if (agent == failing) throw std::runtime_error("no");
        // Something to do for those that have started.
        Agent::current()->scheduler().post(tracked([] {}));
        Agent::current()->scheduler().post(tracked([] {}), {.delay = 1h});
      };
      EXPECT_THROW(
          AgentCluster(
              {.agents = agents, .on_start = starting, .on_stop = [&](unsigned) { ++stopped; }}),
          std::runtime_error);
      EXPECT_EQ(stopped.load(), failing);
      EXPECT_EQ(callbacks.alive(), 0);
    }
  }
}

TEST_F(ClusterStart, constructor_when_pinned_then_each_agent_has_a_cpu_of_the_callers_in_turn) {
  const AgentCluster own({.agents = 3, .pin = true});
  const auto cpus = [] {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::vector<unsigned> found;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) found.push_back(cpu);
    }
    return found;
  };
  const auto allowed = cpus();
  for (unsigned agent = 0; agent < 3; ++agent) {
    EXPECT_THAT(own.agent(agent).scheduler().post_task(cpus).get(),
                testing::ElementsAre(allowed[agent % allowed.size()]));
  }
}

TEST_F(ClusterStart, on_stop_when_it_throws_then_the_hook_hears) {
  {
    const AgentCluster own(
        {.agents = 2, .on_stop = [](unsigned) { throw std::runtime_error("stop"); }});
  }
  EXPECT_EQ(errors.take().size(), 2U);
}

}  // namespace
}  // namespace heist::support
