// CLU-3: nobody sleeps while a runnable task is unclaimed; no wake-up is lost.
#include "../cluster.hpp"

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

}  // namespace

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
