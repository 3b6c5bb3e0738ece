// Delays that other threads arm and cancel while their agent moves the clock (DLY-1, DLY-2, ABT-4).
#include <heist/heist.hpp>

#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::model;
using std::chrono::milliseconds;

}  // namespace

/// Two equal delays from one thread: neither expires early, the first posted is the first to run.
HEIST_MODEL_PROGRAM(delays_against_expiry, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  int ran = 0;
  spawn([&] {
    for (int i = 0; i < 2; ++i) {
      const auto earliest = loop.now() + milliseconds(2);
      scheduler.post(
          [&, i, earliest] {
            check(loop.now() >= earliest, "never early");
            check(ran++ == i, "equal delays run in their order");
          },
          {.delay = milliseconds(2)});
    }
  });
  loop.advance(milliseconds(3));
  if (!join_all()) return;
  loop.advance(milliseconds(3));
  check(ran == 2 && loop.pending() == 0, "every task ran once");
}

/// A delay is armed, cancelled and expires at once, on three threads.
HEIST_MODEL_PROGRAM(delayed_post_against_abort_and_expiry, 1) {
  EventLoop loop(on_virtual_clock());
  AbortController controller;
  int ran = 0;
  Promise<int> task = Promise<int>::resolved(0);
  spawn([&] {
    task = loop.scheduler().post_task(
        [&] {
          ++ran;
          return 7;
        },
        {.signal = controller.signal(), .delay = milliseconds(2)});
  });
  spawn([&] { controller.abort(); });
  loop.advance(milliseconds(5));
  if (!join_all()) return;
  loop.advance(milliseconds(5));
  check(task.settled(), "the promise is settled");
  check(ran == 1 || task.status() == PromiseStatus::rejected, "fulfilled: it ran");
  check(ran <= 1 && loop.pending() == 0, "no timer is left");
}
