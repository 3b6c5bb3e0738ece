// What a child of fork() may do with what it inherited, and without. Rule: CLU-5, LIF-1.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#if !defined(__has_feature)
#define __has_feature(feature) 0  // NOLINT(bugprone-reserved-identifier): g++ 12 has none
#endif

namespace HEIST_NAMESPACE::detail {
namespace {

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
constexpr bool may_start_threads = false;
#else
constexpr bool may_start_threads = true;
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
constexpr bool may_allocate_meanwhile = false;  // its allocator's locks stay taken in the child
#else
constexpr bool may_allocate_meanwhile = true;
#endif

constexpr unsigned longest_child = 60;  // seconds

struct Ended {
  friend bool operator==(const Ended&, const Ended&) = default;
  int code = -1;    ///< what the child has found: 0 is right
  int signal = -1;  ///< 0: none
};

Ended wait_for_child(pid_t child) {
  int status = -1;
  if (waitpid(child, &status, 0) != child) return {};
  if (WIFSIGNALED(status)) return {.code = 0, .signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status), .signal = 0};
}

/// What becomes of a child that calls `act()`, which returns its exit code; 99: it threw.
template <class Act>
Ended in_child(Act act) {
  const pid_t child = ::fork();
  if (child != 0) return wait_for_child(child);
  alarm(longest_child);  // not to hang
  try {
    _exit(act());
  } catch (...) {
    _exit(99);
  }
}

template <class Error, class Act>
bool throws(Act act) {
  try {
    act();
  } catch (const Error&) {
    return true;
  }
  return false;
}

constexpr Ended well{.code = 0, .signal = 0};

/// A child's own: whether an agent and a cluster that it makes run what they are given.
int use_own_agents() {
  const Agent agent;
  if (agent.scheduler().post_task([] { return 1; }).get() != 1) return 1;
  const AgentCluster cluster(AgentClusterOptions{.agents = 2});
  return cluster.scheduler().post_task([] { return 2; }).get() == 2 ? 0 : 2;
}

TEST(Fork, WPT_MT_18_child_when_it_calls_exec_then_it_starts_and_the_agent_works_on) {
  const Agent agent;
  agent.scheduler().post_task([] {}).get();
  EXPECT_EQ(in_child([] {
              ::execl("/bin/true", "true", nullptr);
              return 127;
            }),
            well);
  EXPECT_EQ(agent.scheduler().post_task([] { return 1; }).get(), 1);
}

TEST(Fork, WPT_MT_18_child_when_it_posts_to_an_inherited_agent_then_refused_and_told_why) {
  const Agent agent;
  agent.scheduler().post_task([] {}).get();
  EXPECT_EQ(in_child([&] {
              if (agent.scheduler().post([] {})) return 1;
              const auto promise = agent.scheduler().post_task([] {});
              if (!promise.settled()) return 2;
              if (!throws<InvalidStateError>([&] { promise.get(); })) return 3;
              return 0;
            }),
            well);
  EXPECT_EQ(agent.scheduler().post_task([] { return 1; }).get(), 1);
}

TEST(Fork, child_when_it_posts_to_an_inherited_cluster_then_refused_and_told_why) {
  const AgentCluster cluster(AgentClusterOptions{.agents = 2});
  EXPECT_EQ(in_child([&] {
              if (cluster.scheduler().post([] {})) return 1;
              if (cluster.agent(1).scheduler().post([] {})) return 2;
              std::string told;
              try {
                cluster.scheduler().post_task([] {}).get();
              } catch (const InvalidStateError& error) {
                told = error.what();
              }
              return told.find("fork") == std::string::npos ? 3 : 0;
            }),
            well);
  EXPECT_EQ(cluster.scheduler().post_task([] { return 1; }).get(), 1);
}

TEST(Fork, child_when_it_schedules_on_an_inherited_agent_then_refused) {
  const Agent agent;
  const CooperativeScheduler scheduler(agent.scheduler());
  EXPECT_EQ(in_child([&] {
              return scheduler.schedule_callback(CooperativePriority::normal, [] {}) ? 1 : 0;
            }),
            well);
}

TEST(Fork, child_when_it_waits_for_an_inherited_agent_then_throws) {
  const Agent agent;
  const AgentCluster cluster(AgentClusterOptions{.agents = 2});
  const auto never = agent.scheduler().post_task([] {}, {.delay = std::chrono::hours(1)});
  const auto nowhere = cluster.scheduler().post_task([] {}, {.delay = std::chrono::hours(1)});
  EXPECT_EQ(in_child([&] {
              if (!throws<NotAllowedError>([&] { never.get(); })) return 1;
              if (!throws<NotAllowedError>([&] { nowhere.get(); })) return 2;
              return 0;
            }),
            well);
}

TEST(Fork, child_when_it_closes_what_it_inherited_then_throws_and_destroying_it_returns) {
  auto agent = std::make_unique<Agent>();
  auto cluster = std::make_unique<AgentCluster>(AgentClusterOptions{.agents = 2});
  auto watchdog = std::make_unique<Watchdog>(*cluster);
  EXPECT_EQ(in_child([&] {
              if (!throws<NotAllowedError>([&] { agent->close(CloseMode::abort()); })) return 1;
              if (!throws<NotAllowedError>([&] { cluster->close(CloseMode::drain()); })) return 2;
              if (dump(*cluster).empty()) return 3;
              watchdog.reset();
              agent.reset();
              cluster.reset();
              return 0;
            }),
            well);
}

TEST(Fork, child_when_it_aborts_tasks_of_an_inherited_agent_then_their_promises_reject) {
  const Agent agent;
  TaskController controller;
  const auto never = agent.scheduler().post_task(
      [] {}, {.signal = controller.signal(), .delay = std::chrono::hours(1)});
  EXPECT_EQ(in_child([&] {
              controller.abort();
              return throws<AbortError>([&] { never.get(); }) ? 0 : 1;
            }),
            well);
}

TEST(Fork,
     child_when_it_aborts_and_joins_an_inherited_scope_then_throws_and_destroying_it_returns) {
  const Agent agent;
  auto scope = std::make_unique<TaskScope>(agent.scheduler());
  scope->start([] {}, {.delay = std::chrono::hours(1)});
  EXPECT_EQ(in_child([&] {
              scope->abort();
              if (!throws<NotAllowedError>([&] { scope->join(); })) return 1;
              scope.reset();
              return 0;
            }),
            well);
}

TEST(Fork, child_when_it_drives_an_embedded_loop_then_it_goes_on) {
  EventLoop loop;
  int runs = 0;
  loop.scheduler().post([&] { ++runs; });
  EXPECT_EQ(in_child([&] {
              loop.scheduler().post([&] { ++runs; });
              loop.run_until_idle();
              return runs == 2 ? 0 : 1;
            }),
            well);
  loop.run_until_idle();
  EXPECT_EQ(runs, 1);
}

TEST(Fork, child_of_a_task_when_it_goes_on_as_the_agent_then_aborted) {
  const Agent agent;
  const pid_t child = agent.scheduler().post_task([] { return ::fork(); }).get();
  EXPECT_EQ(wait_for_child(child), (Ended{.code = 0, .signal = SIGABRT}));
}

TEST(Fork, child_of_a_stealable_task_when_it_goes_on_as_an_agent_then_aborted) {
  const AgentCluster cluster(AgentClusterOptions{.agents = 2});
  const pid_t child = cluster.scheduler().post_task([] { return ::fork(); }).get();
  EXPECT_EQ(wait_for_child(child), (Ended{.code = 0, .signal = SIGABRT}));
}

TEST(Fork, child_when_it_makes_agents_of_its_own_then_they_work) {
  if (!may_start_threads) GTEST_SKIP() << "ThreadSanitizer allows no threads in such a child";
  const Agent agent;
  agent.scheduler().post_task([] {}).get();
  EXPECT_EQ(in_child(use_own_agents), well);
}

TEST(Fork, child_when_forked_amid_posts_and_runs_then_its_own_agents_work) {
  if (!may_start_threads) GTEST_SKIP() << "ThreadSanitizer allows no threads in such a child";
  if (!may_allocate_meanwhile) GTEST_SKIP() << "AddressSanitizer's allocator is not for fork()";
  const Agent agent;
  const AgentCluster cluster(AgentClusterOptions{.agents = 2});
  std::atomic<bool> stop = false;
  std::thread poster([&] {
    while (!stop) {
      agent.scheduler().post_task([] { return std::string(100, 'x'); }).get();
      cluster.scheduler().post_task([] {}).get();
    }
  });
  std::vector<Ended> children;
  for (int i = 0; i < 30; ++i) children.push_back(in_child(use_own_agents));
  stop = true;
  poster.join();
  EXPECT_EQ(children, std::vector<Ended>(30, well));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
