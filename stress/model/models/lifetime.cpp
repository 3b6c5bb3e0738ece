// Loops, signals and promises go while others use them, in any order (LIF-1, LIF-2).
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <utility>

#include "../cluster.hpp"
#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::model;
using std::chrono::milliseconds;

}  // namespace

/// Queued and delayed tasks are aborted while their loop is destroyed: each is rejected once, by
/// either.
HEIST_MODEL_PROGRAM(destroyed_against_abort, 2) {
  AbortController controller;
  std::optional<EventLoop> loop(on_virtual_clock());
  const auto queued = loop->scheduler().post_task(&seven, {.signal = controller.signal()});
  const auto delayed = loop->scheduler().post_task(
      &seven, {.signal = controller.signal(), .delay = milliseconds(2)});
  spawn([&] { controller.abort(); });
  loop.reset();
  if (!join_all()) return;
  check(queued.status() == PromiseStatus::rejected, "the queued task is rejected");
  check(delayed.status() == PromiseStatus::rejected, "the delayed task is rejected");
}

/// A loop is destroyed while a signal changes its priority and goes, and a post with it is under
/// way.
HEIST_MODEL_PROGRAM(destroyed_against_change, 2) {
  std::optional<TaskController> controller(TaskPriority::background);
  std::optional<EventLoop> loop(on_virtual_clock());
  const Scheduler scheduler = loop->scheduler();
  const auto signal = controller->signal();
  const auto task = scheduler.post_task(&seven, {.signal = signal});
  std::optional<Promise<int>> late;
  spawn([&] {
    controller->set_priority(TaskPriority::user_blocking);
    controller.reset();
  });
  spawn([&] { late = scheduler.post_task(&seven, {.signal = signal}); });
  loop.reset();
  if (!join_all()) return;
  check(task.settled() && late->settled(), "both promises are settled");
}

namespace {

/// A callback that owns the handle through which it is posted.
struct OwnsItsHandle {
  Scheduler handle;
  bool* has_run;
  void operator()() const { *has_run = true; }
};

}  // namespace

/// It runs, or is dropped, and its cluster is destroyed before the post has returned. (It is not
/// run frozen: a late poster of a delay may have the keeper's role, which the last agent awaits.)
HEIST_BLOCKING_MODEL_PROGRAM(destroyed_against_a_callback_with_the_last_handle, 2) {
  std::optional<LoopCluster> cluster(std::in_place, 1U);
  std::array<bool, 2> have_run{};
  spawn([&, now = OwnsItsHandle{cluster->scheduler(), &have_run[0]},
         later = OwnsItsHandle{cluster->scheduler(), &have_run[1]}]() mutable {
    now.handle.post(std::move(now));
    later.handle.post(std::move(later), {.delay = milliseconds(1)});
  });
  cluster->run_until_idle(0);
  cluster.reset();
  join_all();
  check(!have_run[1], "no time passes");
}

/// The last handle of a signal goes while its loop takes the message of its last change.
HEIST_MODEL_PROGRAM(signal_goes_against_its_message, 2) {
  EventLoop loop(on_virtual_clock());
  std::optional<TaskController> controller(TaskPriority::background);
  int ran = 0;
  loop.scheduler().post([&] { ++ran; }, {.signal = controller->signal()});
  spawn([&] {
    controller->set_priority(TaskPriority::user_blocking);
    controller.reset();
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(ran == 1, "it ran once");
}

/// A task's last promise is dropped while the task ends and is aborted.
HEIST_MODEL_PROGRAM(promise_dropped_against_end_and_abort, 2) {
  EventLoop loop(on_virtual_clock());
  AbortController controller;
  std::optional<Promise<int>> promise(
      loop.scheduler().post_task(&seven, {.signal = controller.signal()}));
  spawn([&] { promise.reset(); });
  spawn([&] { controller.abort(); });
  loop.run_until_idle();
  join_all();
}

/// A subscription and its signal's last handle go on two threads, during an abort.
HEIST_BLOCKING_MODEL_PROGRAM(subscription_and_signal_go, 3) {
  std::optional<AbortController> controller(std::in_place);
  int calls = 0;
  std::optional<Subscription> subscription(
      controller->signal().on_abort([&](auto&&...) { ++calls; }));
  spawn([&] {
    controller->abort();
    controller.reset();
  });
  spawn([&] { subscription.reset(); });
  join_all();
  check(calls <= 1, "called once at the most");
}
