// A look of a running task that has found nothing more urgent, against what others do then (YLD-7):
// whatever has returned before the task asks is seen.
#include <heist/heist.hpp>

#include "../cluster.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// Asks after a call of another thread has returned, or before.
class Asked {
 public:
  void note() noexcept { returned_.fetch_add(1, sync::acq_rel); }
  /// Called by the running task.
  void ask() const {
    const bool has_returned = returned_.load(sync::acquire) != 0;
    const bool waits = urgent_waiting();
    if (has_returned) check(waits, "what has returned before is seen");
  }

 private:
  sync::atomic<int> returned_{0};
};

}  // namespace

HEIST_MODEL_PROGRAM(look_against_post, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  Asked asked;
  scheduler.post([&] {
    check(!urgent_waiting(), "nothing is there yet");
    spawn([&] {
      scheduler.post(&nothing, {.priority = TaskPriority::user_blocking});
      asked.note();
    });
    asked.ask();
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
}

/// Two changes at once: one of them may have to ask for a look at all queues, as the message of the
/// other is under way. Whichever has returned counts.
HEIST_MODEL_PROGRAM(look_against_two_raises, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  scheduler.post(&nothing, {.signal = controller.signal()});
  scheduler.post([&] {
    Asked asked;
    check(!urgent_waiting(), "it stands below yet");
    for (int i = 0; i < 2; ++i) {
      spawn([&] {
        controller.set_priority(TaskPriority::user_blocking);
        asked.note();
      });
    }
    asked.ask();
    if (!join_all()) return;
    check(urgent_waiting(), "what has returned before is seen");
  });
  loop.run_until_idle();
}

/// The running task's own priority is lowered.
HEIST_MODEL_PROGRAM(look_against_own_lowering, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::user_visible);
  Asked asked;
  scheduler.post(
      [&] {
        scheduler.post(&nothing);
        check(!urgent_waiting(), "it has the same priority");
        spawn([&] {
          controller.set_priority(TaskPriority::background);
          asked.note();
        });
        asked.ask();
      },
      {.signal = controller.signal()});
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
}

HEIST_MODEL_PROGRAM(look_against_stealable_post, 1) {
  LoopCluster cluster;
  Asked asked;
  cluster.bound(0).post([&] {
    check(!urgent_waiting(), "nothing is there yet");
    spawn([&] {
      cluster.scheduler().post(&nothing, {.priority = TaskPriority::user_blocking});
      asked.note();
    });
    asked.ask();
  });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  cluster.run_until_idle(0);
}

/// A stealable task is raised, with its signal's queue.
HEIST_MODEL_PROGRAM(look_against_raise_of_stealable, 1) {
  LoopCluster cluster;
  TaskController controller(TaskPriority::background);
  Asked asked;
  cluster.scheduler().post(&nothing, {.signal = controller.signal()});
  cluster.bound(0).post([&] {
    static_cast<void>(urgent_waiting());
    spawn([&] {
      controller.set_priority(TaskPriority::user_blocking);
      asked.note();
    });
    asked.ask();
  });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  cluster.run_until_idle(0);
}
