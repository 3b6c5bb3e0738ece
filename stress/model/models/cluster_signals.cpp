// A signal and a cluster: the queues are made for the first task, and continuations go on where any
// agent is free.
#include "../cluster.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// Notes, in a task before the others, whether some calls have returned.
class ReturnedBefore {
 public:
  explicit ReturnedBefore(const LoopCluster& cluster, int calls) {
    cluster.bound(0).post([this, calls] { all_ = count_.load(sync::acquire) == calls; },
                          {.priority = TaskPriority::user_blocking});
  }
  void note() noexcept { count_.fetch_add(1, sync::acq_rel); }
  [[nodiscard]] bool all() const noexcept { return all_; }

 private:
  sync::atomic<int> count_{0};
  bool all_ = false;
};

/// A bound task of the middle priority, which a raised one overtakes.
void post_middle(const LoopCluster& cluster, const ReturnedBefore& returned, const int& ran) {
  cluster.bound(0).post([&] {
    if (returned.all()) check(ran == 1, "it was raised before this pick");
  });
}

}  // namespace

/// The first task of a signal in this cluster comes while the priority changes: the pair of queues
/// is made with the old level, or the new one.
HEIST_MODEL_PROGRAM(set_priority_against_first_stealable_task, 1) {
  LoopCluster cluster;
  TaskController controller(TaskPriority::background);
  int ran = 0;
  ReturnedBefore returned(cluster, 2);
  post_middle(cluster, returned, ran);
  spawn([&] {
    cluster.scheduler().post([&] { ++ran; }, {.signal = controller.signal()});
    returned.note();
  });
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    returned.note();
  });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  cluster.run_until_idle(0);
  check(ran == 1, "it ran once");
}

/// Two threads make the pair: one of them is used.
HEIST_MODEL_PROGRAM(two_first_stealable_tasks, 1) {
  LoopCluster cluster;
  TaskController controller(TaskPriority::background);
  int ran = 0;
  for (int i = 0; i < 2; ++i) {
    spawn([&] { cluster.scheduler().post([&] { ++ran; }, {.signal = controller.signal()}); });
  }
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  cluster.bound(0).post([&] { check(ran == 2, "the raised ones come before"); });
  cluster.run_until_idle(0);
  check(ran == 2, "each ran once");
}

/// Who finds the pair new does not rely on its maker: what it posts is where the priority is.
HEIST_MODEL_PROGRAM(second_stealable_task_against_first, 2) {
  LoopCluster cluster(1);
  TaskController controller(TaskPriority::background);
  sync::atomic<bool> raised{false};
  int ran = 0;
  spawn([&] { cluster.scheduler().post([] {}, {.signal = controller.signal()}); });
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    raised.store(true, sync::release);
  });
  if (raised.load(sync::acquire)) {
    cluster.scheduler().post([&] { ++ran; }, {.signal = controller.signal()});
    cluster.bound(0).post([&] { check(ran == 1, "it was raised before it was posted"); });
    cluster.run_until_idle(0);
  }
  if (join_all()) cluster.run_until_idle(0);
}

/// Two changes while an agent picks: when both have returned, picks use the value that stays.
HEIST_MODEL_PROGRAM(two_changes_in_a_cluster, 1) {
  LoopCluster cluster;
  TaskController controller;
  ReturnedBefore returned(cluster, 2);
  int ran = 0;
  cluster.scheduler().post([&] { ++ran; }, {.signal = controller.signal()});
  cluster.bound(0).post([&] {
    const auto last = controller.signal().priority();
    if (returned.all())
      check(ran == (last == TaskPriority::user_blocking ? 1 : 0), "the last wins");
  });
  for (const auto priority : {TaskPriority::user_blocking, TaskPriority::background}) {
    spawn([&, priority] {
      controller.set_priority(priority);
      returned.note();
    });
  }
  cluster.run_until_idle(0);
  if (!join_all()) return;
  cluster.run_until_idle(0);
  check(ran == 1, "it ran once");
}

/// The last handle of the signal goes while its task is picked.
HEIST_BLOCKING_MODEL_PROGRAM(a_signal_goes_with_its_stealable_task, 1) {
  LoopCluster cluster;
  int ran = 0;
  auto controller = std::make_unique<TaskController>();
  cluster.scheduler().post([&] { ++ran; }, {.signal = controller->signal()});
  spawn([&] { controller.reset(); });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  join_all();
  check(ran == 1, "it ran once");
}

namespace {

Promise<void> follow(const Promise<int>& source, int& resumed) {
  check(co_await source == 7, "the value arrives");
  ++resumed;
}

/// A stealable task awaits a promise that another thread settles.
void resume_once(const PostTaskOptions& options) {
  LoopCluster cluster;
  auto pair = Promise<int>::with_resolver();
  int resumed = 0;
  const auto task =
      cluster.scheduler().post_task([&] { return follow(pair.promise, resumed); }, options);
  cluster.run_until_idle(1);
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  join_all();
  cluster.run_until_idle(0);
  cluster.run_until_idle(1);  // its task's promise follows there, where the task ran
  check(resumed == 1, "it goes on once");
  check(task.status() == PromiseStatus::fulfilled, "its promise is settled");
}

}  // namespace

/// A continuation goes on once, on one of the agents.
HEIST_BLOCKING_MODEL_PROGRAM(settle_against_a_stealable_continuation, 1) { resume_once({}); }

/// The same at the priority of a signal.
HEIST_BLOCKING_MODEL_PROGRAM(settle_against_a_shared_continuation, 1) {
  const TaskController controller;
  resume_once({.signal = controller.signal()});
}

/// The await and the settling meet.
HEIST_BLOCKING_MODEL_PROGRAM(settle_against_a_stealable_await, 1) {
  LoopCluster cluster;
  auto pair = Promise<int>::with_resolver();
  int resumed = 0;
  const auto task = cluster.scheduler().post_task([&] { return follow(pair.promise, resumed); });
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  join_all();
  cluster.run_until_idle(0);
  cluster.run_until_idle(1);  // its task's promise follows there, where the task ran
  check(resumed == 1, "it goes on once");
  check(task.status() == PromiseStatus::fulfilled, "its promise is settled");
}
