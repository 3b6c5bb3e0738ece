// One signal on two loops: each has a port for it, made by its first post (PRI-3, ABT-2).
// (Not run frozen: a loop cannot be destroyed while it is driven.)
#include <heist/heist.hpp>

#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// A loop, and how often its tasks of the signal ran.
struct Side {
  EventLoop loop{on_virtual_clock()};
  int ran = 0;

  [[nodiscard]] Scheduler scheduler() const { return loop.scheduler(); }
};

/// Looks, in a task, whether a call has returned on another thread.
class Returned {
 public:
  void note() noexcept { count_.fetch_add(1, sync::acq_rel); }
  [[nodiscard]] bool is(int calls) const noexcept { return count_.load(sync::acquire) == calls; }

 private:
  sync::atomic<int> count_{0};
};

}  // namespace

/// A signal that the first loop knows already comes to the second one while its priority changes:
/// once post and change have returned, picks there use the new value.
HEIST_BLOCKING_MODEL_PROGRAM(set_priority_against_second_loop, 1) {
  Side first;
  Side second;
  TaskController controller(TaskPriority::background);
  Returned returned;
  bool both = false;
  first.scheduler().post([&] { ++first.ran; }, {.signal = controller.signal()});
  second.scheduler().post([&] { both = returned.is(2); },
                          {.priority = TaskPriority::user_blocking});
  second.scheduler().post([&] {
    if (both) check(second.ran == 1, "the pick used the new value");
  });
  spawn([&] { second.loop.run_until_idle(); });
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    returned.note();
  });
  second.scheduler().post([&] { ++second.ran; }, {.signal = controller.signal()});
  returned.note();
  join_all();
  first.loop.run_until_idle();
  second.loop.run_until_idle();
  check(first.ran == 1 && second.ran == 1, "every task ran once");
}

/// The same, and the change comes to the signal's first loop.
HEIST_BLOCKING_MODEL_PROGRAM(set_priority_against_first_loop, 1) {
  Side side;
  TaskController controller(TaskPriority::background);
  Returned returned;
  bool both = false;
  side.scheduler().post([&] { both = returned.is(2); }, {.priority = TaskPriority::user_blocking});
  side.scheduler().post([&] {
    if (both) check(side.ran == 1, "the pick used the new value");
  });
  spawn([&] { side.loop.run_until_idle(); });
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    returned.note();
  });
  side.scheduler().post([&] { ++side.ran; }, {.signal = controller.signal()});
  returned.note();
  join_all();
  side.loop.run_until_idle();
  check(side.ran == 1, "it ran once");
}

/// Two threads bring one signal to two further loops, one of them to both.
HEIST_BLOCKING_MODEL_PROGRAM(two_posters_attach_loops, 1) {
  Side first;
  Side second;
  Side third;
  TaskController controller;
  first.scheduler().post([&] { ++first.ran; }, {.signal = controller.signal()});
  spawn([&] {
    second.scheduler().post([&] { ++second.ran; }, {.signal = controller.signal()});
    third.scheduler().post([&] { ++third.ran; }, {.signal = controller.signal()});
  });
  spawn([&] { second.loop.run_until_idle(); });
  second.scheduler().post([&] { ++second.ran; }, {.signal = controller.signal()});
  join_all();
  for (Side* side : {&first, &second, &third}) side->loop.run_until_idle();
  check(first.ran == 1 && second.ran == 2 && third.ran == 1, "every task ran once");
}

/// Posts on both loops while the signal is aborted: none starts after that, every promise settles.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_posts_on_two_loops, 1) {
  Side first;
  Side second;
  AbortController controller;
  Returned returned;
  bool aborted = false;
  second.scheduler().post([&] { aborted = returned.is(1); });
  const auto post = [&](Side& side) {
    return side.scheduler().post_task(
        [&] {
          check(!aborted, "no start after abort() has returned");
          ++side.ran;
        },
        {.signal = controller.signal()});
  };
  const auto early = post(first);
  spawn([&] { second.loop.run_until_idle(); });
  spawn([&] {
    controller.abort();
    returned.note();
  });
  const auto late = post(second);
  join_all();
  second.loop.run_until_idle();
  check(first.ran == 0 && early.status() == PromiseStatus::rejected, "aborted before its start");
  check(late.settled(), "the promise is settled");
  check(second.ran == 1 || late.status() == PromiseStatus::rejected, "fulfilled: it ran");
}
