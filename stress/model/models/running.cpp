// A loop is closed while its task runs: the closer rejects what is running (LIF-1, ABT-6).
#include <heist/heist.hpp>

#include "../support.hpp"
#include "loop/loop_core.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// What Agent::close does at its deadline.
void reject_running(EventLoop& loop) {
  if (Access::core(loop).counts().activity().runs_something())
    Access::core(loop).running_task().reject();
}

/// A promise says what became of its callback, or that a close was first.
void check_outcome(const Promise<int>& promise) {
  check(promise.settled(), "the promise is settled");
  if (promise.status() == PromiseStatus::fulfilled) check(promise.get() == 7, "with its value");
}

/// A task that the agent itself has posted runs while two closers come; then another one.
void close_against_running(const PostTaskOptions& options) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  Promise<int> first = Promise<int>::resolved(7);
  Promise<int> second = Promise<int>::resolved(7);
  int ran = 0;
  const auto callback = [&] {
    ++ran;
    return 7;
  };
  for (int i = 0; i < 2; ++i) {
    spawn([&] { reject_running(loop); });
  }
  scheduler.post([&] {
    first = scheduler.post_task(callback, options);
    second = scheduler.post_task(callback, options);
  });
  loop.run_until_idle();
  if (!join_all()) return;
  check(ran <= 2, "each ran once at the most");
  check_outcome(first);
  check_outcome(second);
}

}  // namespace

/// Only a close can claim the tasks.
HEIST_MODEL_PROGRAM(close_against_running_task, 2) { close_against_running({}); }

/// An abort could claim them, too, before they start.
HEIST_MODEL_PROGRAM(close_against_running_task_with_signal, 2) {
  AbortController controller;
  close_against_running({.signal = controller.signal()});
}

/// The running task is aborted and its loop closed at once.
HEIST_MODEL_PROGRAM(close_and_abort_against_running_task, 1) {
  EventLoop loop(on_virtual_clock());
  AbortController controller;
  spawn([&] { reject_running(loop); });
  spawn([&] { controller.abort(); });
  const auto task = loop.scheduler().post_task([] { return 7; }, {.signal = controller.signal()});
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check_outcome(task);
}
