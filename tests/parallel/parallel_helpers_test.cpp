// Who helps a parallel region, and when a helper does something else.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <heist/heist.hpp>
#include <heist/parallel.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "parallel/in_task.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

constexpr std::uint64_t endless = std::uint64_t{1} << 60U;

/// A background task with an endless loop. Once helped its caller waits in the body until it is let
/// go; helpers go on and on.
class EndlessRegion {
 public:
  explicit EndlessRegion(const AgentCluster& cluster,
                         TaskPriority priority = TaskPriority::background)
      : controller(priority), done(start(cluster)) {
    wait_for([&] { return has_helper.load(); });
  }
  /// Ends it.   True: it had not ended before.
  bool end() {
    is_let_go = true;
    controller.abort();
    wait_for([&] { return has_ended.load(); });
    return !had_ended;
  }

  TaskController controller;
  std::atomic<bool> has_helper{false};
  std::atomic<bool> is_let_go{false};
  std::atomic<bool> has_ended{false};
  bool had_ended = false;
  std::atomic<std::thread::id> helper{};
  std::atomic<std::uint64_t> helped{0};

 private:
  Promise<void> start(const AgentCluster& cluster) {
    return cluster.scheduler().post_task([this] { run(); }, {.signal = controller.signal()});
  }
  void run() {
    const auto caller = std::this_thread::get_id();
    try {
      parallel_for(std::uint64_t{0}, endless, [&](std::uint64_t) {
        if (std::this_thread::get_id() == caller) {
          return wait_for([&] { return !has_helper.load() || is_let_go.load(); });
        }
        helper = std::this_thread::get_id();
        has_helper = true;
        ++helped;
      });
      had_ended = true;
    } catch (const AbortError&) {
    }
    has_ended = true;
  }

  Promise<void> done;
};

TEST(ParallelHelpers, region_when_indexes_wait_for_each_other_then_all_agents_take_part) {
  for (const unsigned agents : {2U, 4U}) {
    AgentCluster cluster({.agents = agents});
    std::atomic<unsigned> arrived{0};
    in_task(cluster.scheduler(), [&] {
      parallel_for(0U, agents, [&](unsigned) {
        ++arrived;
        wait_for([&] { return arrived.load() == agents; });
      });
    });
    EXPECT_EQ(arrived.load(), agents);
  }
}

TEST(ParallelHelpers, region_when_the_task_is_bound_then_other_agents_help) {
  AgentCluster cluster({.agents = 2});
  std::atomic<int> arrived{0};
  in_task(cluster.agent(0).scheduler(), [&] {
    parallel_for(0, 2, [&](int) {
      ++arrived;
      wait_for([&] { return arrived.load() == 2; });
    });
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(ParallelHelpers, region_when_nested_in_a_helper_then_other_agents_help_that_too) {
  AgentCluster cluster({.agents = 4});
  std::atomic<int> arrived{0};
  in_task(cluster.scheduler(), [&] {
    parallel_for(0, 2, [&](int) {
      parallel_for(0, 2, [&](int) {
        ++arrived;
        wait_for([&] { return arrived.load() == 4; });
      });
    });
  });
  EXPECT_EQ(arrived.load(), 4);
}

// Rule: CLU-1
TEST(ParallelHelpers, helper_when_an_urgent_task_is_posted_then_it_starts_before_the_region_ends) {
  AgentCluster cluster({.agents = 2});
  EndlessRegion region(cluster);
  for (int round = 0; round < 100; ++round) {
    in_task(cluster.scheduler(), [] {}, {.priority = TaskPriority::user_blocking});
    const auto before = region.helped.load();
    wait_for([&] { return region.helped.load() > before; });  // the helper has come back
  }
  EXPECT_TRUE(region.end());
}

TEST(ParallelHelpers, helper_when_an_urgent_delay_ends_then_it_starts_before_the_region_ends) {
  AgentCluster cluster({.agents = 2});
  EndlessRegion region(cluster);
  in_task(cluster.scheduler(), [] {},
          {.priority = TaskPriority::user_blocking, .delay = std::chrono::milliseconds(2)});
  EXPECT_TRUE(region.end());
}

TEST(ParallelHelpers,
     helper_when_a_task_is_bound_to_its_agent_then_it_starts_before_the_region_ends) {
  std::atomic<bool> has_run{
      false};  // outlives the cluster: the caller's task starts after the region
  AgentCluster cluster({.agents = 2});
  EndlessRegion region(cluster);
  for (unsigned agent = 0; agent < 2; ++agent) {
    cluster.agent(agent).scheduler().post([&] { has_run = true; },
                                          {.priority = TaskPriority::user_blocking});
  }
  wait_for([&] { return has_run.load(); });
  EXPECT_TRUE(region.end());
}

// Rule: PRI-3
TEST(ParallelHelpers, helper_when_the_priority_of_its_task_falls_then_others_go_first) {
  AgentCluster cluster({.agents = 2});
  EndlessRegion region(cluster, TaskPriority::user_blocking);
  auto promise = cluster.scheduler().post_task([] {});  // user-visible
  region.controller.set_priority(TaskPriority::background);
  promise.get();
  EXPECT_TRUE(region.end());
}

// Rule: CLU-3
TEST(ParallelHelpers, helper_when_nothing_is_left_to_help_with_then_it_runs_less_urgent_tasks) {
  AgentCluster cluster({.agents = 2});
  std::atomic<bool> has_run{false};
  std::atomic<int> arrived{0};
  in_task(cluster.scheduler(), [&] {
    parallel_for(0, 2, [&](int at) {
      ++arrived;
      wait_for([&] { return arrived.load() == 2; });
      if (at != 0) return;
      cluster.scheduler().post([&] { has_run = true; }, {.priority = TaskPriority::background});
      wait_for([&] { return has_run.load(); });
    });
  });
  EXPECT_TRUE(has_run.load());
}

// Rule: YLD-3
TEST(ParallelHelpers, body_when_it_runs_on_a_helper_then_it_has_the_state_of_the_caller) {
  AgentCluster cluster({.agents = 2});
  TaskController controller(TaskPriority::user_blocking);
  std::atomic<int> arrived{0};
  std::atomic<int> rejected{0};
  auto done = cluster.scheduler().post_task(
      [&] {
        parallel_for(0, 2, [&](int) {
          EXPECT_EQ(Scheduler::current(), cluster.scheduler());
          ++arrived;
          wait_for([&] { return arrived.load() == 2; });
          controller.abort();
          try {
            parallel_for(0, 10, [](int) {});
          } catch (const AbortError&) {
            ++rejected;  // the abort is the caller's, also here
          }
        });
      },
      {.signal = controller.signal()});
  EXPECT_THROW(done.get(), AbortError);
  cluster.close(CloseMode::drain());
  EXPECT_EQ(rejected.load(), 2);
}

TEST(ParallelHelpers, region_when_nobody_comes_to_help_then_calls_leave_nothing_behind) {
  AgentCluster cluster({.agents = 2});
  std::atomic<bool> is_held{false};
  std::atomic<bool> is_let_go{false};
  cluster.scheduler().post([&] {
    is_held = true;
    wait_for([&] { return is_let_go.load(); });
  });
  wait_for([&] { return is_held.load(); });
  in_task(cluster.scheduler(), [] {
    for (int call = 0; call < 1'000; ++call) {
      parallel_for(0, 2, [](int) { parallel_for(0, 2, [](int) {}); });
    }
  });
  is_let_go = true;
  cluster.close(CloseMode::drain());
  EXPECT_LE(cluster.stats().tasks_run, 4U);  // two, and a helper for each of the two regions
}

TEST(ParallelHelpers, region_when_regions_come_and_go_then_no_thread_is_added) {
  const auto threads = [] {
    int count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/task")) {
      ++count;
    }
    return count;
  };
  AgentCluster cluster({.agents = 2});
  const int before = threads();
  for (int round = 0; round < 100; ++round) {
    in_task(cluster.scheduler(), [] { parallel_for(0, 10'000, [](int) {}); });
  }
  EXPECT_EQ(threads(), before);
}

// Rule: SEC-1.
TEST(ParallelHelpers, scheduler_when_the_caller_has_a_ceiling_then_helpers_have_it_too) {
  AgentCluster cluster({.agents = 2});
  const Scheduler low = cluster.scheduler().with_ceiling(TaskPriority::background);
  for (const Scheduler& caller :
       {low, cluster.agent(0).scheduler().with_ceiling(TaskPriority::background)}) {
    std::atomic<bool> is_helped{false};
    std::atomic<int> others{0};
    in_task(caller, [&] {
      const auto thread = std::this_thread::get_id();
      parallel_for(0, 2, [&](int) {
        if (std::this_thread::get_id() == thread) return wait_for([&] { return is_helped.load(); });
        if (Scheduler::current() != low) ++others;
        is_helped = true;
      });
    });
    EXPECT_EQ(others.load(), 0);
  }
}

TEST(ParallelHelpers, region_when_the_other_agent_is_blocked_then_a_reserve_helps) {
  AgentCluster cluster({.agents = 2});
  std::atomic<bool> is_blocked{false};
  std::atomic<bool> is_over{false};
  auto blocked = cluster.scheduler().post_task([&] {
    blocking([&] {
      is_blocked = true;
      wait_for([&] { return is_over.load(); });
    });
  });
  wait_for([&] { return is_blocked.load(); });
  std::atomic<int> inside{0};
  in_task(cluster.scheduler(), [&] {
    parallel_for(0, 2, [&](int) {
      ++inside;
      wait_for([&] { return inside.load() == 2; });
    });
  });
  is_over = true;
  blocked.get();
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
