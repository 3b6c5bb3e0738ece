// Aborts against everything a task goes through: start, post, delay (ABT-1, ABT-2, DLY-5).
#include <heist/heist.hpp>

#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// A task whose signal another thread aborts. The agent looks, in a task before it, whether abort()
/// has returned. (That the callback itself sees it returned says nothing: it starts before its
/// first line.)
class AbortedTask {
 public:
  void post_marker() {
    loop.scheduler().post([this] { returned_ = aborted_.load(sync::acquire) == 1; });
  }
  [[nodiscard]] Promise<int> post(const PostTaskOptions& more = {}) {
    PostTaskOptions options = more;
    options.signal = controller.signal();
    return loop.scheduler().post_task(
        [this] {
          check(!returned_, "no start after abort() has returned");
          ++ran;
          return 7;
        },
        options);
  }
  void abort() {
    controller.abort();
    aborted_.store(1, sync::release);
  }

  EventLoop loop{on_virtual_clock()};
  AbortController controller;
  int ran = 0;

 private:
  sync::atomic<int> aborted_{0};
  bool returned_ = false;
};

bool is_abort(const Reason& reason) {
  try {
    reason.rethrow();
  } catch (const AbortError&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// What a task and its promise came to; settled exactly once.
void check_outcome(const Promise<int>& promise, int ran) {
  check(promise.settled(), "the promise is settled");
  if (promise.status() == PromiseStatus::fulfilled) {
    check(ran == 1 && promise.get() == 7, "fulfilled: it ran");
  } else {
    check(is_abort(promise.reason()), "rejected: with the reason of the abort");
    check(ran <= 1, "it ran once at the most");
  }
}

}  // namespace

/// The task runs, or is rejected; after abort() has returned it does not start.
HEIST_MODEL_PROGRAM(abort_against_start, 3) {
  AbortedTask shared;
  shared.post_marker();
  const auto task = shared.post();
  spawn([&] { shared.abort(); });
  shared.loop.run_until_idle();
  if (!join_all()) return;
  shared.loop.run_until_idle();
  check_outcome(task, shared.ran);
}

/// A callback sees the abort before its aborter has claimed the task: the abort was first all the
/// same (ABT-6).
HEIST_MODEL_PROGRAM(abort_seen_by_its_callback, 2) {
  EventLoop loop(on_virtual_clock());
  AbortController controller;
  bool was_seen = false;
  const auto task = loop.scheduler().post_task(
      [&] {
        was_seen = controller.signal().aborted();
        return 7;
      },
      {.signal = controller.signal()});
  spawn([&] { controller.abort(); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(task.settled(), "the promise is settled");
  if (was_seen) check(task.status() == PromiseStatus::rejected, "what it returns comes too late");
}

/// The post finds the signal open or closed; either way the task is covered.
HEIST_MODEL_PROGRAM(abort_against_post, 2) {
  AbortedTask shared;
  Promise<int> task = Promise<int>::resolved(0);
  shared.post_marker();
  spawn([&] { task = shared.post(); });
  spawn([&] { shared.abort(); });
  shared.loop.run_until_idle();
  if (!join_all()) return;
  shared.loop.run_until_idle();
  check_outcome(task, shared.ran);
}

/// Two tasks on one signal, two aborts of it: the winning call has settled both when it returns.
HEIST_MODEL_PROGRAM(two_aborts, 2) {
  EventLoop loop(on_virtual_clock());
  AbortController controller;
  int ran = 0;
  const auto callback = [&] {
    ++ran;
    return 7;
  };
  const auto first = loop.scheduler().post_task(callback, {.signal = controller.signal()});
  const auto second = loop.scheduler().post_task(callback, {.signal = controller.signal()});
  for (int i = 0; i < 2; ++i) {
    spawn([&] { controller.abort(); });
  }
  if (!join_all()) return;
  check(first.settled() && second.settled() && ran == 0, "both rejected, none started");
  loop.run_until_idle();
  check(ran == 0, "no start after abort() has returned");
}

/// A delay is armed, and cancelled by an abort, from other threads; its agent sleeps, or moves the
/// clock.
HEIST_MODEL_PROGRAM(abort_against_expiry, 2) {
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
        {.signal = controller.signal(), .delay = std::chrono::milliseconds(2)});
    spawn([&] { controller.abort(); });
    join_all();
  });
  loop.advance(std::chrono::milliseconds(5));
  if (!join_all()) return;
  loop.advance(std::chrono::milliseconds(5));
  check_outcome(task, ran);
  check(loop.pending() == 0, "no timer is left");
}

/// An abort that comes second returns while the first is at it: nothing starts after either
/// (ABT-2). (Not run frozen: a loop cannot be destroyed while it is driven.)
HEIST_BLOCKING_MODEL_PROGRAM(losing_abort_against_start, 1) {
  AbortedTask shared;
  shared.post_marker();
  const auto task = shared.post();
  spawn([&] { shared.abort(); });
  spawn([&] { shared.loop.run_until_idle(); });
  shared.controller.abort();
  join_all();
  shared.loop.run_until_idle();
  check_outcome(task, shared.ran);
}

/// The AbortError of an abort is made when it is first looked at, by one or the other.
HEIST_MODEL_PROGRAM(two_look_at_an_abort_error, 3) {
  const Reason reason = Reason::of_abort();
  std::exception_ptr theirs;
  spawn([&theirs, mine = reason] { theirs = mine.exception(); });
  const std::exception_ptr ours = reason.exception();
  if (!join_all()) return;
  check(ours != nullptr && ours == theirs, "both see the same one");
}
