// CLU-3: nobody sleeps while a runnable task is unclaimed; no wake-up is lost.
#include <optional>

#include "../cluster.hpp"
#include "cluster/idle_agents.hpp"

using namespace heist;
using namespace heist::model;

/// Each of two tasks, from two posters, gets an agent at once.
HEIST_BLOCKING_MODEL_PROGRAM(two_posts_wake_two_agents, 0) {
  LoopCluster cluster;
  Meeting meeting(2);
  for (int i = 0; i < 2; ++i) {
    spawn([&] { cluster.scheduler().post(meeting.task()); });
  }
  cluster.run_one_each();
}

/// Both tasks come in one bin: who takes it leaves the other one to the other agent.
HEIST_BLOCKING_MODEL_PROGRAM(a_bin_wakes_two_agents, 1) {
  LoopCluster cluster;
  Meeting meeting(2);
  spawn([&] {
    for (int i = 0; i < 2; ++i) cluster.scheduler().post(meeting.task());
  });
  cluster.run_one_each();
}

/// A bound task posts the other one, to its own agent's ring.
HEIST_BLOCKING_MODEL_PROGRAM(an_own_post_wakes_the_other_agent, 2) {
  LoopCluster cluster;
  Meeting meeting(2);
  cluster.bound(0).post([&] {
    cluster.scheduler().post(meeting.task(), {.priority = TaskPriority::user_blocking});
    meeting();
  });
  cluster.run_one_each();
}

/// A bound task posts two tasks to its own agent's ring. While that agent runs the first one, the
/// other agent finds the second one there.
HEIST_BLOCKING_MODEL_PROGRAM(own_posts_behind_a_task_wake_the_other_agent, 2) {
  LoopCluster cluster;
  Meeting meeting(2);
  cluster.bound(0).post([&] {
    for (int i = 0; i < 2; ++i) cluster.scheduler().post(meeting.task());
  });
  spawn([&] { cluster.run_one(1); });
  for (int i = 0; i < 2; ++i) cluster.run_one(0);
  join_all();
}

/// A change of priority wakes nobody too few either.
HEIST_BLOCKING_MODEL_PROGRAM(shared_posts_wake_two_agents, 0) {
  LoopCluster cluster;
  TaskController controller(TaskPriority::background);
  Meeting meeting(2);
  spawn([&] {
    for (int i = 0; i < 2; ++i) {
      cluster.scheduler().post(meeting.task(), {.signal = controller.signal()});
    }
  });
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  cluster.run_one_each();
}

/// A task for one agent alone comes while both go to sleep, and a stealable one: whoever takes
/// that.
HEIST_BLOCKING_MODEL_PROGRAM(a_bound_post_wakes_its_agent, 2) {
  LoopCluster cluster;
  int ran = 0;
  spawn([&] { cluster.bound(1).post([&] { ++ran; }); });
  spawn([&] { cluster.run_one(1); });
  join_all();
  check(ran == 1, "it ran");
}

namespace {

constexpr unsigned three = 3;

/// Two agents that sleep. The first one, once awake, is busy with a bound task for ever.
struct TwoSleepers {
  TwoSleepers() {
    for (const unsigned agent : {0U, 1U}) {
      idle.begin_search();
      idle.announce(agent);
    }
  }
  /// What an agent does that was woken.
  void run(std::optional<unsigned> woken) {
    while (woken) {
      if (*woken != 0) tasks.store(0, sync::seq_cst);
      const bool hands_over = idle.end_search() && tasks.load(sync::seq_cst) != 0;
      woken = hands_over ? idle.notify(0) : std::nullopt;
    }
  }
  void expect_none_left() {
    check(tasks.load(sync::seq_cst) == 0 || !idle.sleeps(1), "the task got an agent");
  }

  detail::IdleAgents idle{2};
  sync::atomic<int> tasks{0};
};

/// An agent that sleeps, and posters that unpark it.
struct OneSleeper {
  OneSleeper() {
    idle.begin_search();
    idle.announce(0);
  }
  /// The agent wakes by itself, takes all tasks, and goes to sleep again.
  void wake_up() {
    do {
      idle.end_sleep(0);
      tasks.store(0, sync::seq_cst);
      idle.announce(0);
    } while (tasks.load(sync::seq_cst) != 0);
  }
  void post() {
    tasks.store(1, sync::seq_cst);
    if (idle.notify(0)) is_unparked.store(true, sync::seq_cst);
  }

  detail::IdleAgents idle{1};
  sync::atomic<int> tasks{0};
  sync::atomic<bool> is_unparked{false};
};

}  // namespace

/// An agent wakes by itself beside a thread that wakes it for a bound task. The agent is busy with
/// that from then on, and ends its search. A stealable task comes.
HEIST_MODEL_PROGRAM(who_wakes_by_itself_ends_no_other_search, 2) {
  TwoSleepers agents;
  spawn([&] {
    const auto woken = agents.idle.wake(0);
    if (woken != 0U) agents.run(woken);  // the first one runs below
  });
  spawn([&] {
    agents.tasks.store(1, sync::seq_cst);
    const auto woken = agents.idle.notify(0);
    if (woken != 0U) agents.run(woken);
  });
  agents.idle.end_sleep(0);
  agents.run(0);
  if (join_all()) agents.expect_none_left();
}

/// A poster counts a searcher, and then finds that the agent is awake. Meanwhile the agent goes to
/// sleep again, and another poster leaves its task to that searcher.
HEIST_MODEL_PROGRAM(a_late_notify_leaves_no_task_to_nobody, 4) {
  OneSleeper agent;
  for (int i = 0; i < 2; ++i) spawn([&] { agent.post(); });
  agent.wake_up();
  if (!join_all()) return;
  const bool is_left = agent.tasks.load(sync::seq_cst) != 0 && agent.idle.sleeps(0);
  check(!is_left || agent.is_unparked.load(sync::seq_cst), "the task got the agent");
}

/// Three posts of one poster, at two levels, wake three agents.
HEIST_BLOCKING_MODEL_PROGRAM(three_posts_wake_three_agents, 0) {
  LoopCluster cluster(three);
  Meeting meeting(three);
  const Scheduler scheduler = cluster.scheduler();
  spawn([&] {
    scheduler.post(meeting.task());
    scheduler.post(meeting.task(), {.priority = TaskPriority::user_blocking});
    scheduler.post(meeting.task());
  });
  cluster.run_one_each();
}

/// An agent that was got up to stop is nobody's searcher: its driver goes on to wait for what
/// another agent runs.
HEIST_BLOCKING_MODEL_PROGRAM(who_stops_searches_no_more, 1) {
  LoopCluster cluster;
  Meeting meeting(2);
  spawn([&] { cluster.run_one(0); });
  spawn([&] { cluster.loop(1).stop(); });
  cluster.run(1);
  cluster.scheduler().post(meeting.task());
  meeting();
  join_all();
}
