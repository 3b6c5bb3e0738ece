// SUS-1 in a cluster: agents hold back what they pick of a suspended scheduler, and who resumes it publishes that.
#include "../cluster.hpp"
#include "../out_of_memory.hpp"

using namespace heist;
using namespace heist::model;

namespace {

/// A stealable task of a scheduler that another thread suspends or resumes.
struct HeldTask {
  void post(const PostTaskOptions& options = {}) {
    promise = cluster.scheduler().post_task(
        [this, share = kept] {
          ++ran;
          return 7;
        },
        options);
  }
  void check_ran_once() const { check(ran == 1 && promise.get() == 7, "it ran once"); }
  void check_outcome() const {
    check(promise.settled() && ran <= 1, "settled, and run once at the most");
    check((promise.status() == PromiseStatus::fulfilled) == (ran == 1), "fulfilled if it ran");
    check(kept.use_count() == 1, "the callback is destroyed");
  }

  HubCluster cluster;
  TaskController controller;
  Promise<int> promise = Promise<int>::resolved(0);
  std::shared_ptr<int> kept = std::make_shared<int>(0);
  int ran = 0;
};

}  // namespace

/// Nothing starts in a pick that begins after suspend() has returned.
HEIST_BLOCKING_MODEL_PROGRAM(suspend_against_stealable_pick, 2) {
  HeldTask task;
  sync::atomic<bool> suspended{false};
  task.post();
  spawn([&] {
    task.cluster.scheduler().suspend();
    suspended.store(true, sync::release);
  });
  const bool was_suspended = suspended.load(sync::acquire);
  task.cluster.run_until_idle(0);
  if (was_suspended) check(task.ran == 0, "it is held back");
  join_all();
  task.cluster.scheduler().resume();
  task.cluster.run_until_idle(0);
  task.check_ran_once();
}

/// It is held back while its scheduler is resumed: by the agent, or by who resumes, it is published again.
HEIST_BLOCKING_MODEL_PROGRAM(resume_against_hold, 1) {
  HeldTask task;
  task.cluster.scheduler().suspend();
  task.post();
  spawn([&] { task.cluster.scheduler().resume(); });
  spawn([&] { task.cluster.run_until_idle(1); });
  task.cluster.run_until_idle(0);
  join_all();
  task.cluster.run_until_idle(0);
  task.check_ran_once();
}

/// The same for a task with a dynamic priority, which changes, when memory has run out for its new place.
HEIST_BLOCKING_MODEL_PROGRAM(resume_against_change, 1) {
  HeldTask task;
  SchedulerCore& scheduler = task.cluster.core().first_scheduler();
  task.cluster.hub().suspend(scheduler);
  task.post({.signal = task.controller.signal()});
  spawn([&] {
    const OutOfMemory scope;
    task.cluster.hub().resume(scheduler);
  });
  spawn([&] { task.controller.set_priority(TaskPriority::user_blocking); });
  task.cluster.run_until_idle(0);
  join_all();
  task.cluster.run_until_idle(0);
  task.check_ran_once();
}

/// It is aborted while it is held back, published again, or picked.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_resume, 1) {
  HeldTask task;
  task.cluster.scheduler().suspend();
  task.post({.signal = task.controller.signal()});
  spawn([&] { task.cluster.scheduler().resume(); });
  spawn([&] { task.controller.abort(); });
  task.cluster.run_until_idle(0);
  join_all();
  task.cluster.run_until_idle(1);
  task.check_outcome();
}

/// The same with two agents, one of which runs the abort's reaper.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_resume_on_two_agents, 1) {
  HeldTask task;
  task.cluster.scheduler().suspend();
  task.post({.signal = task.controller.signal()});
  task.cluster.run_until_idle(0);
  task.controller.abort();
  spawn([&] { task.cluster.scheduler().resume(); });
  spawn([&] { task.cluster.run_until_idle(1); });
  task.cluster.run_until_idle(0);
  join_all();
  task.cluster.run_until_idle(1);
  task.check_outcome();
}

/// It is aborted, and its signal goes with what the reaper destroys, while it is published again.
HEIST_BLOCKING_MODEL_PROGRAM(signal_goes_against_resume, 1) {
  HubCluster cluster;
  auto controller = std::make_unique<TaskController>();
  cluster.scheduler().suspend();
  cluster.scheduler().post([] {}, {.signal = controller->signal()});
  cluster.run_until_idle(0);
  // The ticket of its queue holds them, until others' have come behind it.
  for (int i = 0; i < 8; ++i) {
    const TaskController other;
    cluster.scheduler().post([] {}, {.signal = other.signal()});
    cluster.run_until_idle(0);
  }
  controller->abort();
  controller.reset();
  spawn([&] { cluster.scheduler().resume(); });
  spawn([&] { cluster.run_until_idle(0); });
  join_all();
  cluster.run_until_idle(0);
}

/// The cluster closes while its scheduler is resumed.
HEIST_BLOCKING_MODEL_PROGRAM(resume_against_close, 2) {
  HeldTask task;
  task.cluster.scheduler().suspend();
  task.post({.signal = task.controller.signal()});
  task.cluster.run_until_idle(0);
  spawn([&] { task.cluster.scheduler().resume(); });
  spawn([&] { task.cluster.close(1); });
  task.cluster.close(0);
  join_all();
  task.check_outcome();
}
