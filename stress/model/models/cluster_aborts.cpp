// Aborts of stealable tasks: in the queues, in the inbox, in the wheel, while one is picked, and
// when the cluster closes (ABT-1, ABT-2, ABT-4). Who holds a task and the reaper of the abort meet:
// one of them destroys its callback.
#include <optional>
#include <utility>

#include "../cluster.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;
using std::chrono::milliseconds;

namespace {

/// Two agents, and a task that another thread aborts.
class AbortedInCluster {
 public:
  void post(const PostTaskOptions& more = {}) {
    PostTaskOptions options = more;
    options.signal = controller.signal();
    task_ = cluster.scheduler().post_task(
        [this, kept = kept_] {
          check(!returned_, "no start after abort() has returned");
          ++ran_;
          return 7;
        },
        options);
  }
  void abort() {
    controller.abort();
    aborted_.store(true, sync::release);
  }
  /// An agent, before a pick.
  void look() { returned_ = aborted_.load(sync::acquire); }
  /// At the end, when all agents have nothing to do.
  void check_outcome() const {
    check(task_.settled() && ran_ <= 1, "settled, and run once at the most");
    check(ran_ == 1 || task_.status() == PromiseStatus::rejected, "run, or rejected");
    check(kept_.use_count() == 1, "the callback is destroyed");
  }

  LoopCluster cluster;
  TaskController controller{TaskPriority::user_visible};

 private:
  Promise<int> task_ = Promise<int>::resolved(0);
  std::shared_ptr<int> kept_ = std::make_shared<int>(0);
  int ran_ = 0;
  sync::atomic<bool> aborted_{false};
  bool returned_ = false;
};

void run_both(const LoopCluster& cluster) {
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  join_all();
  cluster.run_until_idle(0);
  cluster.run_until_idle(1);
}

void abort_while_it_closes(AbortedInCluster& shared) {
  spawn([&] { shared.abort(); });
  spawn([&] { shared.cluster.close(1); });
  shared.cluster.close(0);
  join_all();
  shared.check_outcome();
}

/// A poster gives the last handle of a signal away with its post, while an agent's thread aborts
/// the signal, drops the controller, and reaps.
void post_with_the_last_handle(std::optional<TaskPriority> priority) {
  LoopCluster cluster;
  std::optional<TaskController> controller(std::in_place);
  TaskSignal signal = controller->signal();
  spawn([&] {
    cluster.scheduler().post([] {}, {.signal = std::move(signal), .priority = priority});
  });
  spawn([&] {
    controller->abort();
    controller.reset();
    cluster.run_until_idle(1);
  });
  join_all();
  cluster.run_until_idle(1);
}

}  // namespace

/// The agent that reaps the task drops the task's reference to the signal, which the poster may
/// still use.
HEIST_BLOCKING_MODEL_PROGRAM(end_of_a_signal_against_its_last_post, 1) {
  post_with_the_last_handle(TaskPriority::user_visible);
}

/// The same with a task in the queue of its signal.
HEIST_BLOCKING_MODEL_PROGRAM(end_of_a_signal_against_its_last_dynamic_post, 1) {
  post_with_the_last_handle({});
}

/// In the bins, or in the hands of an agent.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_stealable_task, 1) {
  AbortedInCluster shared;
  shared.post({.priority = TaskPriority::user_visible});
  spawn([&] { shared.abort(); });
  run_both(shared.cluster);
  shared.check_outcome();
}

/// In the queue of its signal.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_task_in_a_shared_queue, 1) {
  AbortedInCluster shared;
  shared.post();
  spawn([&] { shared.abort(); });
  run_both(shared.cluster);
  shared.check_outcome();
}

/// When abort() has returned nothing of the signal starts.
HEIST_BLOCKING_MODEL_PROGRAM(no_start_behind_an_abort, 2) {
  AbortedInCluster shared;
  shared.post();
  spawn([&] { shared.abort(); });
  shared.look();
  shared.cluster.run_until_idle(0);
  join_all();
  shared.cluster.run_until_idle(0);
  shared.check_outcome();
}

/// The post finds the signal open or closed.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_a_stealable_post, 1) {
  AbortedInCluster shared;
  spawn([&] { shared.post(); });
  spawn([&] { shared.abort(); });
  shared.cluster.run_until_idle(1);
  join_all();
  shared.cluster.run_until_idle(0);
  shared.check_outcome();
}

/// On its way to the wheel, in it, or due.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_delayed_task, 1) {
  AbortedInCluster shared;
  shared.post({.delay = milliseconds(2)});
  spawn([&] { shared.abort(); });
  shared.cluster.run_until_idle(1);
  shared.cluster.pass_time(milliseconds(3));
  run_both(shared.cluster);
  shared.check_outcome();
}

/// In the wheel when the keeper learns of it.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_task_in_the_wheel, 1) {
  AbortedInCluster shared;
  shared.post({.delay = milliseconds(2)});
  shared.cluster.run_until_idle(0);
  spawn([&] { shared.abort(); });
  run_both(shared.cluster);
  shared.check_outcome();
}

/// The cluster closes: who drops the task, its agent and the reaper meet.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_a_closing_cluster, 1) {
  AbortedInCluster shared;
  shared.post();
  abort_while_it_closes(shared);
}

/// The same for a delayed one.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_delay_against_a_close, 1) {
  AbortedInCluster shared;
  shared.post({.delay = milliseconds(2)});
  abort_while_it_closes(shared);
}

/// The same for one in the wheel: the keeper that takes it out may leave its disposal to another
/// one.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_task_in_the_wheel_against_a_close, 2) {
  AbortedInCluster shared;
  shared.post({.delay = milliseconds(2)});
  shared.cluster.run_until_idle(0);
  abort_while_it_closes(shared);
}

/// The same for one whose scheduler is suspended.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_held_delay_against_a_close, 2) {
  AbortedInCluster shared;
  shared.cluster.scheduler().suspend();
  shared.post({.delay = milliseconds(2)});
  shared.cluster.run_until_idle(0);
  abort_while_it_closes(shared);
}

/// And for one that is in the hands of an agent while its scheduler is suspended.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_held_task_against_a_close, 2) {
  AbortedInCluster shared;
  shared.cluster.scheduler().suspend();
  shared.post();
  shared.cluster.run_until_idle(0);
  abort_while_it_closes(shared);
}

namespace {

/// A coroutine of a cluster that yields, and another thread that aborts its signal.
class YieldingInCluster {
 public:
  /// Runs it up to its yield.
  void start() {
    const auto run = [this] { static_cast<void>(yield_once()); };
    cluster.scheduler().post(run, {.signal = controller.signal()});
    cluster.run_one(0);
  }
  void check_end() const { check(ended_ == 1, "the coroutine ended once"); }

  LoopCluster cluster;
  TaskController controller{TaskPriority::user_visible};

 private:
  Promise<void> yield_once() {
    const CountsItsEnd frame(ended_);
    try {
      co_await heist::yield();
    } catch (const AbortError&) {
    }
  }

  int ended_ = 0;
};

}  // namespace

/// A continuation that resumes its coroutine itself, or is aborted; any agent may do either.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_stealable_continuation, 1) {
  YieldingInCluster shared;
  shared.start();
  spawn([&] { shared.controller.abort(); });
  run_both(shared.cluster);
  shared.check_end();
}

/// The same while the cluster closes, which destroys the frame.
HEIST_BLOCKING_MODEL_PROGRAM(abort_of_a_continuation_against_a_close, 1) {
  YieldingInCluster shared;
  shared.start();
  spawn([&] { shared.controller.abort(); });
  spawn([&] { shared.cluster.close(1); });
  shared.cluster.close(0);
  join_all();
  shared.check_end();
}
