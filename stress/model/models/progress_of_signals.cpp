// As progress.cpp, for what makes and drops signals that others abort, for yields and suspensions.
#include <heist/heist.hpp>
#include <optional>

#include "../support.hpp"

using namespace heist;
using namespace heist::model;

/// Dependents are made and dropped while their root aborts.
HEIST_MODEL_PROGRAM(progress_of_dependents, 1) {
  AbortController root;
  const AbortController other;
  std::optional<AbortSignal> kept;
  spawn([&] {
    const Operation operation("any");
    kept = AbortSignal::any({root.signal(), other.signal()});
  });
  spawn([&] {
    auto dropped = std::make_optional(AbortSignal::any({root.signal()}));
    const Operation operation("drop a dependent signal");
    dropped.reset();
  });
  {
    const Operation operation("abort");
    root.abort(1);
  }
  if (join_all()) check(kept->aborted(), "aborted at birth, or later");
}

/// A priority that dependents follow changes while one is made.
HEIST_MODEL_PROGRAM(progress_of_followers, 1) {
  TaskController controller(TaskPriority::background);
  std::optional<TaskSignal> kept;
  spawn([&] {
    const Operation operation("any");
    kept = TaskSignal::any({}, controller.signal());
  });
  {
    const Operation operation("set_priority");
    controller.set_priority(TaskPriority::user_blocking);
  }
  if (join_all()) check(kept->priority() == TaskPriority::user_blocking, "the new value");
}

/// A timeout is made and dropped by one thread, while its loop runs.
HEIST_MODEL_PROGRAM(progress_of_timeout_signals, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  spawn([&] {
    std::optional<AbortSignal> signal;
    {
      const Operation operation("timeout signal");
      signal = AbortSignal::timeout(scheduler, Delay());
    }
    const Operation operation("drop a timeout signal");
    signal.reset();
  });
  run(loop);
  if (join_all()) run(loop);
}

/// Suspensions, plain tasks and yields meet at one loop.
HEIST_MODEL_PROGRAM(progress_of_suspensions, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  spawn([&] {
    const Operation operation("suspend");
    scheduler.suspend();
    scheduler.resume();
  });
  spawn([&] {
    const Operation operation("queue_task");
    loop.queue_task(TaskSource::message, &nothing);
  });
  scheduler.post(&nothing);
  run(loop);
  if (!join_all()) return;
  run(loop);
  check(loop.pending() == 0, "everything ran");
}

HEIST_MODEL_PROGRAM(progress_of_yields, 1) {
  EventLoop loop(on_virtual_clock());
  TaskController controller;
  const Scheduler scheduler = loop.scheduler();
  const auto yields = [&](YieldOptions options) -> Promise<void> {
    co_await scheduler.yield(options);
  };
  spawn([&] {
    const Operation operation("yield");
    const Promise<void> turn = scheduler.yield();
  });
  spawn([&] {
    const Operation operation("abort");
    controller.abort();
  });
  scheduler.post([&] {
    const Operation operation("yield");
    static_cast<void>(yields({}));
    static_cast<void>(yields(YieldSignal(controller.signal())));
  });
  run(loop);
  if (!join_all()) return;
  run(loop);
  check(loop.pending() == 0, "everything went on");
}
