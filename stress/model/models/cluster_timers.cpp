// DLY-5 in a cluster: a delayed task is no hostage of the agent that armed it, or that slept until
// it was due.
#include "../cluster.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;
using std::chrono::milliseconds;

namespace {

/// A task that keeps its agent until a delayed one has run.
struct Hostage {
  explicit Hostage(unsigned size = 2) : cluster(size, on_model_time()) {}

  void arm() {
    cluster.scheduler().post([this] { end(); }, {.delay = milliseconds(5)});
  }
  /// One that will not be due: who sleeps for it sleeps until it is woken.
  void arm_far_one() const {
    cluster.scheduler().post([] { check(false, "it is not due"); },
                             {.delay = ModelTime::beyond_range});
  }
  void wait() {
    while (ran.load(sync::acquire) == 0) wait_on_word(ran, 0, {});
  }
  void end() {
    ran.store(1, sync::release);
    wake_all_on_word(ran);
  }
  ModelTime time;
  LoopCluster cluster;
  sync::atomic<std::uint32_t> ran{0};
};

}  // namespace

/// The agent that armed it is busy until it has run.
HEIST_BLOCKING_MODEL_PROGRAM(armer_is_busy, 2) {
  Hostage hostage;
  hostage.cluster.bound(0).post([&] {
    hostage.arm();
    hostage.wait();
  });
  hostage.cluster.run_one_each();
}

/// It is armed from outside, while a task comes that keeps the agent that takes it: be it the
/// watcher.
HEIST_BLOCKING_MODEL_PROGRAM(watcher_takes_a_task, 0) {
  Hostage hostage;
  spawn([&] { hostage.arm(); });
  spawn([&] {
    hostage.cluster.scheduler().post([&] { hostage.wait(); },
                                     {.priority = TaskPriority::user_blocking});
  });
  hostage.cluster.run_one_each();
}

/// A later one is armed already: the watcher sleeps too long, unless it is told. One agent is kept
/// by a task of its own, and may have taken the first one over before.
HEIST_BLOCKING_MODEL_PROGRAM(earlier_deadline_wakes_the_watcher, 1) {
  Hostage hostage;
  hostage.arm_far_one();
  hostage.cluster.bound(0).post([&] { hostage.wait(); });
  spawn([&] { hostage.arm(); });
  hostage.cluster.run_one_each();
}

/// Both are free: one runs it, the other what that posts.
HEIST_BLOCKING_MODEL_PROGRAM(earlier_deadline_wakes_one_of_two, 1) {
  Hostage hostage;
  hostage.arm_far_one();
  spawn([&] {
    hostage.cluster.scheduler().post([&] { hostage.cluster.scheduler().post([] {}); },
                                     {.delay = milliseconds(5)});
  });
  hostage.cluster.run_one_each();
}

/// The first comes due and is kept while another one comes: its keeper looks at the inbox again
/// (TimerKeeper's I1), and is kept by a task then.
HEIST_BLOCKING_MODEL_PROGRAM(a_timer_comes_while_one_is_kept, 1) {
  Hostage hostage;
  hostage.cluster.scheduler().post([&] { hostage.wait(); }, {.delay = milliseconds(1)});
  spawn([&] { hostage.arm(); });
  hostage.cluster.run_one_each();
}

/// Two agents are kept by tasks that wait for the delayed one, which the third runs.
HEIST_BLOCKING_MODEL_PROGRAM(a_timer_among_three_agents, 0) {
  Hostage hostage(3);
  const Scheduler scheduler = hostage.cluster.scheduler();
  spawn([&] {
    scheduler.post([&] { hostage.wait(); });
    hostage.arm();
    scheduler.post([&] { hostage.wait(); }, {.priority = TaskPriority::user_blocking});
  });
  hostage.cluster.run_one_each();
}

/// Delayed tasks run once and in their order, whichever agent keeps them.
HEIST_BLOCKING_MODEL_PROGRAM(two_keepers_of_delays, 2) {
  LoopCluster cluster;
  std::array<int, 2> ran{};
  spawn([&] {
    for (int& each : ran) cluster.scheduler().post([&] { ++each; }, {.delay = milliseconds(1)});
    cluster.pass_time(milliseconds(1));
  });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  join_all();
  cluster.run_until_idle(0);
  for (const int times : ran) check(times == 1, "every task runs once");
}

/// Whoever keeps does a portion of it for a pick, although more comes: then it is the turn of its
/// own task.
HEIST_MODEL_PROGRAM(keeping_ends_while_more_comes, 3) {
  LoopCluster cluster;
  cluster.bound(0).post(
      [&] {
        constexpr int second_delay = 1;
        check(!cluster.core().queues().may_have_above(second_delay), "it kept one portion");
      },
      {.priority = TaskPriority::user_blocking});
  spawn([&] {
    auto now = milliseconds(0);
    for (const auto priority : {TaskPriority::background, TaskPriority::user_visible}) {
      cluster.scheduler().post([] {}, {.priority = priority, .delay = milliseconds(1)});
      cluster.pass_time(now += milliseconds(1));
      if (!cluster.core().queues().may_have_above(-1)) return;
    }
  });
  cluster.run_one(0);
  join_all();
}

/// A deadline beyond what fits beside the watcher does not pass for an early one.
HEIST_MODEL_PROGRAM(a_far_deadline, 0) {
  TimerKeeper keeper;
  check(keeper.try_watch(0, (TimerKeeper::Due{1} << 56) + 1), "nobody watches");
  check(keeper.watch().until > 5, "who arms one for tick 5 wakes the watcher");
}
