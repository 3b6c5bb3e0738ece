// Delays that other threads arm and cancel while their agent moves the clock (DLY-1, DLY-2, ABT-4).
#include <heist/heist.hpp>
#include <memory>
#include <utility>

#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::model;
using std::chrono::milliseconds;

Timeout set_and_keep() {
  const Operation operation("set a timeout");
  return set_timeout([] { check(false, "a cleared timeout ran"); }, milliseconds(1));
}

/// False: another thread drives the loop.
bool try_advance(EventLoop& loop) {
  try {
    loop.advance(milliseconds(3));
  } catch (const NotAllowedError&) {
    return false;
  }
  return true;
}

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

/// Another thread clears a timeout while it expires: refused, or the timeout is over and its run is
/// seen. Not frozen: no other thread can drive, or destroy, a loop that a frozen one drives.
HEIST_BLOCKING_MODEL_PROGRAM(handle_against_its_timeout, 2) {
  EventLoop loop(on_virtual_clock());
  Timeout timeout;
  int ran = 0;
  loop.scheduler().post([&] { timeout = set_timeout([&] { ++ran; }, milliseconds(2)); });
  loop.run_until_idle();
  bool is_cleared = false;
  spawn([&] {
    try {
      is_cleared = timeout.clear();
      check(ran == (is_cleared ? 0 : 1), "it is over, or will not run");
    } catch (const NotAllowedError&) {  // the other thread drives
    }
  });
  const bool is_driving = try_advance(loop);
  if (!join_all()) return;
  if (!is_driving) loop.advance(milliseconds(3));
  check(ran == (is_cleared ? 0 : 1), "it ran, or was cleared");
  check(loop.pending() == 0, "no timer is left");
}

/// A timeout's handle goes on another thread while the timeout runs; its loop sets and clears
/// another one.
HEIST_MODEL_PROGRAM(handle_goes_against_its_timeout, 3) {
  EventLoop loop(on_virtual_clock());
  Timeout timeout;
  int ran = 0;
  loop.scheduler().post([&] { timeout = set_timeout([&] { ++ran; }, milliseconds(2)); });
  loop.run_until_idle();
  spawn([handle = std::make_shared<Timeout>(std::move(timeout))] {});
  loop.scheduler().post([] {
    Timeout cleared = set_and_keep();
    const Operation operation("clear a timeout");
    check(cleared.clear(), "it had not run");
  });
  loop.advance(milliseconds(3));
  if (!join_all()) return;
  check(ran == 1 && loop.pending() == 0, "it ran");
}
