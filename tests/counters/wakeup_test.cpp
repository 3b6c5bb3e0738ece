// What waking an agent costs. Rule: CLU-3, CLU-4, WPT: MT-15; issue: one wake-up syscall per
// idle-to-busy transition, none when awake; an agent with only far timers does not wake (DLY-1).
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <heist/heist.hpp>
#include <string>
#include <thread>
#include <utility>

#include "api/probes.hpp"
#include "counters/counting.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::Gate;

/// One field of a thread's status file.
std::string status_of(pid_t thread, const std::string& field) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field + ":"))
      return line.substr(line.find_first_not_of(" \t", field.size() + 1));
  }
  return {};
}

/// An agent that sleeps as soon as it has nothing to do, and its thread as the system sees it.
class WatchedAgent {
 public:
  WatchedAgent() : agent(options()) {
    thread_ =
        static_cast<pid_t>(scheduler.post_task([] { return static_cast<long>(gettid()); }).get());
  }

  /// Returns when it sleeps in the kernel, its posts done.
  void fall_asleep() const {
    const auto before = scheduler.post_task([this] { return agent.stats().sleeps; }).get();
    while (agent.stats().sleeps == before || !status_of(thread_, "State").starts_with("S")) {
      std::this_thread::yield();
    }
  }
  /// How often its thread has gone to sleep or was put aside.
  [[nodiscard]] std::uint64_t switches() const {
    return std::stoull(status_of(thread_, "voluntary_ctxt_switches")) +
           std::stoull(status_of(thread_, "nonvoluntary_ctxt_switches"));
  }
  [[nodiscard]] std::uint64_t wakeups() const { return agent.stats().wakeups_sent; }

 private:
  static AgentOptions options() {
    AgentOptions options;
    options.loop.spin = 0ns;
    return options;
  }
  pid_t thread_ = 0;

 public:
  Agent agent;
  Scheduler scheduler = agent.scheduler();
};

/// System calls the calling thread makes in `work`.
template <class Work>
std::uint64_t system_calls_of(Work&& work) {
  const auto before = test::system_calls();
  std::forward<Work>(work)();
  return test::system_calls() - before;
}

TEST(Clu3WakeUp, post_when_the_agent_sleeps_then_one_system_call) {
  const WatchedAgent watched;
  for (int round = 0; round < 5; ++round) {
    watched.fall_asleep();
    const auto before = watched.wakeups();
    EXPECT_EQ(system_calls_of([&] { watched.scheduler.post([] {}); }), 1U);
    EXPECT_EQ(watched.wakeups(), before + 1);
  }
}

TEST(Clu3WakeUp, post_when_the_agent_is_awake_then_no_system_call) {
  Gate running;
  Gate release;
  const WatchedAgent watched;
  watched.scheduler.post([&] {
    running.open();
    release.wait();
  });
  running.wait();
  const auto before = watched.wakeups();
  const AbortController controller;
  const PostTaskOptions with_signal{.signal = controller.signal()};
  EXPECT_EQ(system_calls_of([&] {
              for (int i = 0; i < 100; ++i) {
                watched.scheduler.post([] {});
                static_cast<void>(watched.scheduler.post_task([] {}, with_signal));
              }
            }),
            0U);
  EXPECT_EQ(watched.wakeups(), before);
  release.open();
}

// Of many posts to a sleeping agent only the first one wakes, whoever they are by.
TEST(Clu3WakeUp, posts_when_many_reach_a_sleeping_agent_then_one_wake_up_until_it_has_taken_them) {
  Gate running;
  Gate release;
  const WatchedAgent watched;
  watched.fall_asleep();
  const auto before = watched.wakeups();
  watched.scheduler.post([&] {
    running.open();
    release.wait();
  });
  for (int i = 0; i < 100; ++i) watched.scheduler.post([] {});
  running.wait();
  for (int i = 0; i < 100; ++i) watched.scheduler.post([] {});
  EXPECT_EQ(watched.wakeups(), before + 1);
  release.open();
}

TEST(Clu3WakeUp, post_when_the_agent_posts_to_itself_then_no_system_call) {
  const WatchedAgent watched;
  const auto calls = watched.scheduler.post_task([&] {
    return system_calls_of([&] {
      for (int i = 0; i < 100; ++i) watched.scheduler.post([] {});
      watched.scheduler.post([] {}, {.delay = 1h});
    });
  });
  EXPECT_EQ(calls.get(), 0U);
}

TEST(Clu3WakeUp, settle_when_nobody_waits_then_no_system_call) {
  const WatchedAgent watched;
  auto [promise, resolver] = Promise<int>::with_resolver();
  EXPECT_EQ(system_calls_of([&resolver] { resolver.resolve(1); }), 0U);
}

// Rule: ABT-4: a parked agent is woken once per abort, however many tasks it holds.
TEST(Abt4WakeUp, abort_when_the_agent_sleeps_with_many_tasks_then_one_wake_up) {
  const WatchedAgent watched;
  AbortController controller;
  for (int i = 0; i < 200; ++i) {
    watched.scheduler.post([] {}, {.signal = controller.signal(), .delay = 1h});
  }
  watched.fall_asleep();
  const auto before = watched.wakeups();
  EXPECT_EQ(system_calls_of([&] { controller.abort(); }), 1U);
  EXPECT_EQ(watched.wakeups(), before + 1);
}

// An agent with nothing runnable makes no task run sooner by being asked.
TEST(Clu3WakeUp, set_priority_when_the_signal_has_no_task_on_the_agent_then_no_system_call) {
  const WatchedAgent watched;
  TaskController controller;
  watched.fall_asleep();
  EXPECT_EQ(system_calls_of([&] { controller.set_priority(TaskPriority::background); }), 0U);
}

// Real time on purpose: that nothing happens can only be seen while time passes.
constexpr auto while_idle = 300ms;

// Rule: CLU-4, DLY-1
TEST(Clu4Idle, WPT_MT_15_agent_when_it_has_only_far_timers_then_it_does_not_wake) {
  const WatchedAgent watched;
  const auto far = watched.scheduler.post_task([] {}, {.delay = 1h});
  for (int i = 1; i < 100; ++i) watched.scheduler.post([] {}, {.delay = i * 1h});
  watched.fall_asleep();
  const auto switches = watched.switches();
  const auto sleeps = watched.agent.stats().sleeps;
  EXPECT_FALSE(far.wait_for(while_idle));
  EXPECT_EQ(watched.switches(), switches);
  EXPECT_EQ(watched.agent.stats().sleeps, sleeps);
}

// Rule: CLU-4
TEST(Clu4Idle, WPT_MT_15_agent_when_it_has_nothing_then_it_does_not_wake) {
  const WatchedAgent watched;
  watched.fall_asleep();
  const auto switches = watched.switches();
  auto [never, resolver] = Promise<void>::with_resolver();
  EXPECT_FALSE(never.wait_for(while_idle));
  EXPECT_EQ(watched.switches(), switches);
}

// Rule: CLU-4: nor when a delay was aborted, or its time moved by a spin of the default length.
TEST(Clu4Idle, agent_when_its_near_timer_was_aborted_then_it_does_not_wake_for_it) {
  const WatchedAgent watched;
  AbortController controller;
  const auto aborted =
      watched.scheduler.post_task([] {}, {.signal = controller.signal(), .delay = while_idle / 2});
  const auto far = watched.scheduler.post_task([] {}, {.delay = 1h});
  controller.abort();
  watched.fall_asleep();
  const auto switches = watched.switches();
  EXPECT_FALSE(far.wait_for(while_idle));
  EXPECT_EQ(watched.switches(), switches);
}

/// What of the time `work` takes the calling thread uses.
template <class Work>
std::chrono::nanoseconds cpu_time_of(Work&& work) {
  const auto used = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto before = used();
  std::forward<Work>(work)();
  return used() - before;
}

// Rule: CLU-4, for a loop that has a descriptor.
TEST(Clu4Idle, run_when_the_descriptor_was_made_by_a_task_then_it_sleeps_between_tasks) {
  EventLoop loop;
  loop.scheduler().post([&loop] { EXPECT_GE(loop.wakeup_fd(), 0); });
  loop.scheduler().post([&loop] { loop.stop(); }, {.delay = while_idle});
  EXPECT_LT(cpu_time_of([&loop] { loop.run(); }), while_idle / 4);
}

// Rule: CLU-4, LIF-1
TEST(Clu4Idle, close_when_it_waits_for_a_delayed_task_then_it_sleeps_meanwhile) {
  EventLoop loop;
  EXPECT_GE(loop.wakeup_fd(), 0);
  const auto promise = loop.scheduler().post_task([] {}, {.delay = while_idle});
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  EXPECT_LT(cpu_time_of([&] { loop.close(mode); }), while_idle / 4);
  EXPECT_EQ(promise.status(), PromiseStatus::fulfilled);
}

// That these counts can rise at all.
TEST(Clu4Idle, agent_when_it_has_a_near_timer_then_it_wakes_for_it) {
  const WatchedAgent watched;
  watched.fall_asleep();
  const auto switches = watched.switches();
  watched.scheduler.post_task([] {}, {.delay = 100ms}).get();
  EXPECT_GT(watched.switches(), switches);  // it slept once more, as the delay was not over yet
}

}  // namespace
}  // namespace heist
