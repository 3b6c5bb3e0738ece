// Each operation on a cluster that docs/progress.md calls lock-free, against agents that run what
// it gives them: a thread frozen in it keeps nobody from coming to their end (ORD-5). Frozen
// agents: in the models of the queues.
#include "../cluster.hpp"

using namespace heist;
using namespace heist::model;
using std::chrono::milliseconds;

namespace {

/// Both agents, by this thread.
void run_all(const LoopCluster& cluster) {
  cluster.run_until_idle(0);
  cluster.run_until_idle(1);
}
/// Until nobody has anything left.
void finish(const LoopCluster& cluster) {
  run_all(cluster);
  if (join_all()) run_all(cluster);
}

}  // namespace

HEIST_MODEL_PROGRAM(progress_of_stealable_posts, 2) {
  const LoopCluster cluster;
  spawn([&] {
    const Operation operation("stealable post");
    cluster.scheduler().post(&nothing);
  });
  spawn([&] {
    const Operation operation("stealable post");
    static_cast<void>(cluster.scheduler().post_task(&nothing));
  });
  finish(cluster);
}

HEIST_MODEL_PROGRAM(progress_of_stealable_posts_with_a_signal, 1) {
  const LoopCluster cluster;
  const TaskController controller;
  spawn([&] {
    const Operation operation("stealable post with a signal");
    static_cast<void>(cluster.scheduler().post_task(&nothing, {.signal = controller.signal()}));
  });
  static_cast<void>(cluster.scheduler().post_task(&nothing, {.signal = controller.signal()}));
  finish(cluster);
}

HEIST_MODEL_PROGRAM(progress_of_stealable_delays, 2) {
  const LoopCluster cluster;
  spawn([&] {
    const Operation operation("stealable post with a delay");
    cluster.scheduler().post(&nothing, {.delay = milliseconds(2)});
  });
  run_all(cluster);
  cluster.pass_time(milliseconds(3));
  finish(cluster);
}

HEIST_MODEL_PROGRAM(progress_of_stealable_changes, 2) {
  const LoopCluster cluster;
  TaskController controller;
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(cluster.scheduler().post_task(&nothing, {.signal = controller.signal()}));
  }
  spawn([&] {
    const Operation operation("set_priority of stealable tasks");
    controller.set_priority(TaskPriority::user_blocking);
  });
  finish(cluster);
}

HEIST_MODEL_PROGRAM(progress_of_stealable_aborts, 2) {
  const LoopCluster cluster;
  TaskController controller;
  static_cast<void>(cluster.scheduler().post_task(&nothing, {.signal = controller.signal()}));
  spawn([&] {
    const Operation operation("abort of stealable tasks");
    controller.abort();
  });
  finish(cluster);
}

HEIST_MODEL_PROGRAM(progress_of_stealable_suspensions, 2) {
  const LoopCluster cluster;
  const Scheduler scheduler = cluster.scheduler();
  scheduler.post(&nothing);
  spawn([&] {
    {
      const Operation operation("suspend a stealable scheduler");
      scheduler.suspend();
    }
    const Operation operation("resume a stealable scheduler");
    scheduler.resume();
  });
  finish(cluster);
}

HEIST_MODEL_PROGRAM(progress_of_hot_phases, 2) {
  const LoopCluster cluster;
  cluster.scheduler().post(&nothing);
  spawn([&] {
    const Operation operation("hot phase");
    cluster.core().begin_hot_phase();
    cluster.core().end_hot_phase();
  });
  finish(cluster);
}
