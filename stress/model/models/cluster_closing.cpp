// Closing a cluster (LIF-1, LIF-2): each task runs, is dropped or refused, once.
#include "../cluster.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;
using std::chrono::milliseconds;

namespace {

/// A task that is posted while the cluster closes.
class LateTask {
 public:
  void post(LoopCluster& cluster, const PostTaskOptions& options = {}) {
    is_posted_ = true;
    task_ = cluster.scheduler().post_task(
        [this, kept = kept_] {
          ++ran_;
          return 7;
        },
        options);
  }
  /// A task of the cluster.
  void wait() const { wait(task_); }
  static void wait(const Promise<int>& task) {
    try {
      check(task.get() == 7, "it ran");
    } catch (const AbortError&) {
    } catch (const InvalidStateError&) {
    }
  }
  [[nodiscard]] const Promise<int>& promise() const noexcept { return task_; }
  [[nodiscard]] bool is_posted() const noexcept { return is_posted_; }
  void check_outcome() const {
    check(task_.settled() && ran_ <= 1, "settled, and run once at the most");
    check((task_.status() == PromiseStatus::fulfilled) == (ran_ == 1), "fulfilled if it ran");
    check(kept_.use_count() == 1, "the callback is destroyed");
  }

 private:
  Promise<int> task_ = Promise<int>::resolved(0);
  std::shared_ptr<int> kept_ = std::make_shared<int>(0);
  int ran_ = 0;
  bool is_posted_ = false;
};

Forkable<int> leaf(int value) { co_return value; }
Forkable<int> sum_of_two() {
  Forked<int> first = co_await fork(leaf(3));
  const int second = co_await leaf(4);
  co_await join();
  co_return first.value() + second;
}

/// What a cluster's close does at its deadline.
void reject_running(const LoopCluster& cluster) {
  for (unsigned index = 0; index < 2; ++index) {
    LoopCore& loop = Access::core(cluster.loop(index));
    if (loop.counts().activity().runs_something()) loop.running_task().reject();
  }
}

}  // namespace

/// A task's tree ends on one member while its callback's part ends on another one.
HEIST_BLOCKING_MODEL_PROGRAM(tree_on_two_members, 2) {
  LoopCluster cluster;
  const auto kept = std::make_shared<int>(0);
  static_cast<void>(cluster.scheduler().post_task([kept] { return sum_of_two(); }));
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  check(kept.use_count() == 1, "its callback is destroyed");
}

/// The deadline comes while two members run parts of a task's tree, whose promise somebody holds.
HEIST_BLOCKING_MODEL_PROGRAM(deadline_against_a_tree, 1) {
  LoopCluster cluster;
  const auto task = cluster.scheduler().post_task([] { return sum_of_two(); });
  spawn([&] { reject_running(cluster); });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  check(task.settled(), "it is settled");
  if (task.status() == PromiseStatus::fulfilled) check(task.get() == 7, "with its result");
}

/// The same when nobody holds it: the tree's end frees the task. (It takes two preemptions to miss
/// a share of its memory.)
HEIST_BLOCKING_MODEL_PROGRAM(deadline_against_a_dropped_tree, 2) {
  LoopCluster cluster;
  const auto kept = std::make_shared<int>(0);
  static_cast<void>(cluster.scheduler().post_task([kept] { return sum_of_two(); }));
  spawn([&] { reject_running(cluster); });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  check(kept.use_count() == 1, "its callback is destroyed");
}

/// Both members close, one of which has run what it found.
HEIST_BLOCKING_MODEL_PROGRAM(close_of_a_cluster_against_post, 2) {
  LoopCluster cluster;
  LateTask task;
  spawn([&] { task.post(cluster); });
  spawn([&] { cluster.close(1); });
  cluster.run_until_idle(0);
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// A task with a dynamic priority.
HEIST_BLOCKING_MODEL_PROGRAM(close_of_a_cluster_against_shared_post, 2) {
  LoopCluster cluster;
  LateTask task;
  const TaskController controller;
  spawn([&] { task.post(cluster, {.signal = controller.signal()}); });
  spawn([&] { cluster.close(1); });
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// A task with a dynamic priority, which changes: its queue moves while the last member looks for
/// what is left.
HEIST_BLOCKING_MODEL_PROGRAM(close_of_a_cluster_against_change, 2) {
  LoopCluster cluster;
  LateTask task;
  TaskController controller;
  task.post(cluster, {.signal = controller.signal()});
  cluster.close(1);
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// A delayed one.
HEIST_BLOCKING_MODEL_PROGRAM(close_of_a_cluster_against_delay, 2) {
  LoopCluster cluster;
  LateTask task;
  spawn([&] { task.post(cluster, {.delay = milliseconds(2)}); });
  spawn([&] { cluster.close(1); });
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// Two late posters, and the last member: all of them drop what they find, one at a time.
HEIST_MODEL_PROGRAM(two_late_posts_against_the_last_member, 2) {
  LoopCluster cluster;
  std::array<LateTask, 2> tasks;
  cluster.close(1);
  for (auto& task : tasks) {
    spawn([&] { task.post(cluster); });
  }
  cluster.close(0);
  if (!join_all()) return;
  for (const auto& task : tasks) task.check_outcome();
}

/// A promise settles whose reaction is the cluster's, which closes.
HEIST_BLOCKING_MODEL_PROGRAM(close_of_a_cluster_against_settle, 2) {
  LoopCluster cluster;
  auto pair = Promise<int>::with_resolver();
  Promise<int> result = Promise<int>::resolved(0);
  cluster.scheduler().post([&] { result = pair.promise.then([](int value) { return value; }); });
  cluster.run_until_idle(0);
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  spawn([&] { cluster.close(1); });
  cluster.close(0);
  join_all();
  check(result.settled(), "the dependent promise is settled");
}

/// A task waits for another one, which nobody else will run as the other member leaves: that one
/// drops it, or who waits.
HEIST_BLOCKING_MODEL_PROGRAM(a_member_leaves_while_the_other_one_waits, 2) {
  LoopCluster cluster;
  LateTask task;
  cluster.bound(0).post([&] {
    task.post(cluster);
    task.wait();
  });
  spawn([&] { cluster.close(1); });
  cluster.run_one(0);
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// The same for one whose time has not come, which is armed before the other member leaves, or
/// after.
HEIST_BLOCKING_MODEL_PROGRAM(a_member_leaves_while_the_other_one_waits_for_a_delay, 2) {
  LoopCluster cluster;
  LateTask task;
  cluster.bound(0).post([&] {
    task.post(cluster, {.delay = milliseconds(2)});
    task.wait();
  });
  spawn([&] {
    cluster.run_until_idle(1);
    cluster.close(1);
  });
  cluster.run_one(0);
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// One leaves while a second one keeps the delays, and stays: it looks again when it gives the role
/// back.
HEIST_BLOCKING_MODEL_PROGRAM(a_member_leaves_while_one_keeps_what_another_one_waits_for, 1) {
  LoopCluster cluster(3);
  LateTask task;
  cluster.bound(0).post([&] {
    task.post(cluster, {.delay = milliseconds(2)});
    task.wait();
  });
  spawn([&] { cluster.run_until_idle(1); });
  spawn([&] { cluster.close(2); });
  cluster.run_one(0);
  join_all();
  for (unsigned index = 0; index < 2; ++index) cluster.close(index);
  task.check_outcome();
}

/// The same for one that waits for a resume: the other member may have picked it, and hold it back.
HEIST_BLOCKING_MODEL_PROGRAM(a_member_leaves_while_the_other_one_waits_for_a_resume, 2) {
  LoopCluster cluster;
  LateTask task;
  cluster.scheduler().suspend();
  cluster.bound(0).post([&] {
    task.post(cluster);
    task.wait();
  });
  spawn([&] {
    cluster.run_until_idle(1);
    cluster.close(1);
  });
  cluster.run_one(0);
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// One that another thread arms while the other member leaves.
HEIST_BLOCKING_MODEL_PROGRAM(a_member_leaves_while_the_other_one_waits_for_a_late_delay, 2) {
  LoopCluster cluster;
  LateTask task;
  auto pair = Promise<int>::with_resolver();
  cluster.bound(0).post([&] { LateTask::wait(pair.promise); });
  spawn([&] {
    cluster.core().refuse_tasks();
    cluster.close(1);
  });
  spawn([&] {
    task.post(cluster, {.delay = milliseconds(2)});
    task.wait();
    pair.resolver.resolve(7);
  });
  cluster.run_one(0);
  cluster.close(0);
  join_all();
  task.check_outcome();
}

/// One that the member that leaves arms, in reaction to a drop. If the other one drops first when
/// this one has left already, there is no reaction.
HEIST_BLOCKING_MODEL_PROGRAM(a_member_that_leaves_arms_what_the_other_one_waits_for, 1) {
  LoopCluster cluster;
  LateTask dropped;
  LateTask task;
  Promise<int> result = Promise<int>::resolved(0);
  dropped.post(cluster, {.delay = milliseconds(2)});
  cluster.bound(1).post([&] {
    result = dropped.promise().then([](int value) { return value; },
                                    [&](const Reason& /*reason*/) {
                                      task.post(cluster, {.delay = milliseconds(2)});
                                      return task.promise();
                                    });
  });
  cluster.run_one(1);
  cluster.bound(0).post([&] { LateTask::wait(result); });
  spawn([&] { cluster.close(1); });
  cluster.run_one(0);
  cluster.close(0);
  join_all();
  if (task.is_posted()) task.check_outcome();
}

/// One member leaves while the other one keeps the delays; then that one, the last, drops them.
HEIST_BLOCKING_MODEL_PROGRAM(the_last_member_against_a_keeper, 1) {
  LoopCluster cluster;
  std::array<LateTask, 2> tasks;
  tasks[0].post(cluster, {.delay = milliseconds(2)});
  spawn([&] { tasks[1].post(cluster, {.delay = milliseconds(1)}); });
  spawn([&] {
    cluster.run_until_idle(1);
    cluster.close(1);
  });
  cluster.run_until_idle(0);
  cluster.close(0);
  join_all();
  for (const auto& task : tasks) task.check_outcome();
}

/// Draining: tasks go on posting, to the cluster and to what is bound to the other agent; all of it
/// has run when it is quiet.
HEIST_BLOCKING_MODEL_PROGRAM(a_drain_waits_for_what_tasks_post, 0) {
  LoopCluster cluster;
  bool has_run = false;
  cluster.scheduler().post([&] { cluster.bound(1).post([&] { has_run = true; }); });
  cluster.core().refuse_tasks();
  for (unsigned index = 0; index < 2; ++index) {
    Access::core(cluster.loop(index)).refuse_tasks();
    spawn([&, index] { cluster.run(index); });
  }
  CloseTerms terms;
  terms.tighten(CloseMode::drain());
  cluster.core().closing().wait_until_quiet(terms);
  check(has_run, "what tasks post while it drains runs");
  cluster.stop();
  join_all();
}

/// The same with what is delayed.
HEIST_BLOCKING_MODEL_PROGRAM(a_drain_waits_for_delays, 0) {
  const ModelTime time;
  LoopCluster cluster(2, on_model_time());
  bool has_run = false;
  cluster.scheduler().post([&] { has_run = true; }, {.delay = milliseconds(1)});
  cluster.core().refuse_tasks();
  for (unsigned index = 0; index < 2; ++index) {
    spawn([&, index] { cluster.run(index); });
  }
  const CloseTerms terms;
  cluster.core().closing().wait_until_quiet(terms);
  check(has_run, "what is delayed runs");
  cluster.stop();
  join_all();
}
