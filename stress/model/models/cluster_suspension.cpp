// SUS-1 in a cluster: agents hold back what they pick of a suspended scheduler, and who resumes it
// publishes that.
#include <array>
#include <vector>

#include "../cluster.hpp"
#include "../out_of_memory.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;
using std::chrono::milliseconds;

namespace {

constexpr LoopNodeOps no_ops{LoopNodeKind::message, nullptr, nullptr};

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
  [[nodiscard]] SuspendedTasks& held() const noexcept {
    return cluster.core().first_scheduler().held_stealable;
  }
  /// One more.
  struct Other {
    void post(const LoopCluster& to, const PostTaskOptions& options = {}) {
      to.scheduler().post([this] { ++ran; }, options);
    }
    int ran = 0;
  };
  void check_ran_once() const { check(ran == 1 && promise.get() == 7, "it ran once"); }
  /// Of an aborted one. An abort that comes while it runs rejects its promise (ABT-6).
  void check_outcome() const {
    check(promise.settled() && ran <= 1, "settled, and run once at the most");
    check(promise.status() == PromiseStatus::rejected || ran == 1, "fulfilled only if it ran");
    check(kept.use_count() == 1, "the callback is destroyed");
  }
  /// Of an aborted one: the first agent comes to an end beside the other threads, and once more
  /// behind them.
  void finish() const {
    cluster.run_until_idle(0);
    join_all();
    cluster.run_until_idle(0);
    check(held().empty(), "what was aborted is not held");
    check_outcome();
  }

  LoopCluster cluster;
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

/// It is held back while its scheduler is resumed: by the agent, or by who resumes, it is published
/// again.
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

/// The same for a task with a dynamic priority, which changes, when memory has run out for its new
/// place.
HEIST_BLOCKING_MODEL_PROGRAM(resume_against_change, 1) {
  HeldTask task;
  SchedulerCore& scheduler = task.cluster.core().first_scheduler();
  task.cluster.core().suspend(scheduler);
  task.post({.signal = task.controller.signal()});
  spawn([&] {
    const OutOfMemory scope;
    task.cluster.core().resume(scheduler);
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
  LoopCluster cluster;
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

/// It is aborted while an agent holds it back: once both are over nothing is held.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_hold, 2) {
  HeldTask task;
  task.cluster.core().suspend(task.cluster.core().first_scheduler());
  task.post({.signal = task.controller.signal()});
  spawn([&] { task.controller.abort(); });
  task.finish();
}

/// The same while another agent learns of the abort.
HEIST_BLOCKING_MODEL_PROGRAM(sweep_against_hold, 1) {
  HeldTask task;
  task.cluster.core().suspend(task.cluster.core().first_scheduler());
  task.post({.signal = task.controller.signal()});
  spawn([&] {
    task.controller.abort();
    task.cluster.run_until_idle(1);
  });
  task.finish();
}

/// Of two that are held one was aborted; the other one runs, or goes on being held.
HEIST_BLOCKING_MODEL_PROGRAM(sweep_against_resume, 1) {
  HeldTask task;
  HeldTask::Other other;
  SchedulerCore& scheduler = task.cluster.core().first_scheduler();
  task.cluster.core().suspend(scheduler);
  task.post({.signal = task.controller.signal()});
  other.post(task.cluster);
  task.cluster.run_until_idle(0);
  task.controller.abort();
  spawn([&] { task.cluster.core().resume(scheduler); });
  task.cluster.run_until_idle(0);
  join_all();
  task.cluster.run_until_idle(0);
  check(other.ran == 1, "what was not aborted has run once");
  check(task.held().empty(), "nothing is held");
  task.check_outcome();
}

/// Two agents learn of aborts; one sweeps, or both, one after the other.
HEIST_BLOCKING_MODEL_PROGRAM(two_sweeps, 1) {
  HeldTask task;
  AbortController second;
  HeldTask::Other other;
  SchedulerCore& scheduler = task.cluster.core().first_scheduler();
  task.cluster.core().suspend(scheduler);
  task.post({.signal = task.controller.signal()});
  task.cluster.run_until_idle(0);
  task.controller.abort();
  other.post(task.cluster, {.signal = second.signal()});
  spawn([&] {
    second.abort();
    task.cluster.run_until_idle(1);
  });
  task.finish();
}

/// Two threads learn of aborts of what is not held: whatever they sweep, nothing is lost, and all
/// keeps its order.
HEIST_MODEL_PROGRAM(two_sweeps_against_push, 2) {
  SuspendedTasks hold;
  std::array<LoopNode, 2> nodes{LoopNode(no_ops), LoopNode(no_ops)};
  hold.push(nodes[0]);
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      hold.count_abort();
      while (hold.wants_sweep() && hold.try_begin()) {
        hold.sweep(1, [](LoopNode&) { return false; }, [](LoopNode&) {});
        hold.end();
      }
    });
  }
  hold.push(nodes[1]);
  if (!join_all()) return;
  std::vector<const LoopNode*> left;
  check(hold.try_begin(), "nobody is at it");
  hold.take_all([&](const LoopNode& node) { left.push_back(&node); });
  check(left == std::vector<const LoopNode*>{nodes.data(), &nodes[1]},
        "both are held, the older one first");
}

/// The keeper is asked for a sweep once, and then by two threads while it sweeps: it hears all of
/// them.
HEIST_BLOCKING_MODEL_PROGRAM(asks_against_sweep, 2) {
  HeldTask task;
  task.cluster.core().suspend(task.cluster.core().first_scheduler());
  task.post();
  task.cluster.core().ask_for_sweep();
  task.cluster.run_until_idle(0);
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      task.held().count_abort();
      task.cluster.core().ask_for_sweep();
    });
  }
  task.cluster.run_until_idle(0);
  join_all();
  task.cluster.run_until_idle(0);
  check(!task.held().empty(), "it goes on being held");
  check(!task.held().wants_sweep(), "all that was counted was swept for");
}

/// Who resumes takes all between two portions of a sweep, or leaves it to the sweeper: each leaves
/// once, in order.
HEIST_MODEL_PROGRAM(portions_against_resume, 2) {
  SuspendedTasks hold;
  std::array<LoopNode, 3> nodes{LoopNode(no_ops), LoopNode(no_ops), LoopNode(no_ops)};
  std::vector<const LoopNode*> living;  // the holder's
  int dead = 0;                         // the holder's
  const auto publish = [&] {
    while (!hold.is_suspended() && !hold.empty() && hold.try_begin()) {
      hold.take_all([&](const LoopNode& node) {
        &node == &nodes[1] ? void(++dead) : living.push_back(&node);
      });
      hold.end();
    }
  };
  hold.suspend();
  for (auto& node : nodes) hold.push(node);
  spawn([&] {
    hold.resume();
    publish();
  });
  hold.count_abort();
  while (hold.wants_sweep() && hold.try_begin()) {
    hold.sweep(
        2, [&](const LoopNode& node) { return &node == &nodes[1]; }, [&](LoopNode&) { ++dead; });
    hold.end();
    publish();
  }
  if (!join_all()) return;
  check(hold.empty(), "all have left");
  check(dead == 1, "what is dead leaves once");
  check(living == std::vector<const LoopNode*>{nodes.data(), &nodes[2]},
        "the living leave in order");
}

/// One thread suspends while another one resumes: what is runnable and what is delayed go by the
/// same of the two.
HEIST_BLOCKING_MODEL_PROGRAM(suspend_against_resume, 2) {
  LoopCluster cluster;
  int ran = 0;
  int ran_delayed = 0;
  spawn([&] { cluster.scheduler().suspend(); });
  cluster.scheduler().resume();
  join_all();
  cluster.scheduler().post([&] { ++ran; });
  cluster.scheduler().post([&] { ++ran_delayed; }, {.delay = milliseconds(1)});
  cluster.run_until_idle(0);
  cluster.pass_time(milliseconds(3));
  cluster.run_until_idle(0);
  check(ran == ran_delayed, "both wait, or both have run");
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
