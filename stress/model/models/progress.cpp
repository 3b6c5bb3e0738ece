// Each operation that docs/progress.md calls lock-free or wait-free, against others that meet it: a
// thread frozen in it keeps nobody from coming to their end (ORD-5).
#include <heist/heist.hpp>
#include <memory>
#include <utility>

#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::model;
using std::chrono::milliseconds;

}  // namespace

/// Posts of all kinds, against each other and the agent.
HEIST_MODEL_PROGRAM(progress_of_posts, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  spawn([&] {
    const Operation operation("post");
    scheduler.post(&nothing);
    static_cast<void>(scheduler.post_task(&seven));
  });
  spawn([&] {
    const Operation operation("copy a scheduler");
    const auto copy = std::make_unique<Scheduler>(scheduler);
  });
  scheduler.post([&] {
    const Operation operation("post to the own agent");
    scheduler.post(&nothing);
    check(Scheduler::current().has_value(), "a scheduler's task runs");
  });
  run(loop);
  if (!join_all()) return;
  run(loop);
  check(loop.pending() == 0, "everything ran");
}

HEIST_MODEL_PROGRAM(progress_of_posts_with_a_signal, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  const TaskController controller;
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      const Operation operation("post with a signal");
      static_cast<void>(scheduler.post_task(&seven, {.signal = controller.signal()}));
    });
  }
  run(loop);
  if (join_all()) run(loop);
}

HEIST_MODEL_PROGRAM(progress_of_delays, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  AbortController controller;
  spawn([&] {
    const Operation operation("post with a delay");
    scheduler.post(&nothing, {.signal = controller.signal(), .delay = milliseconds(2)});
  });
  spawn([&] {
    const Operation operation("abort");
    controller.abort();
  });
  {
    const Operation operation("run");
    loop.advance(milliseconds(3));
  }
  join_all();
}

/// A closed loop, and an aborted signal, refuse.
HEIST_MODEL_PROGRAM(progress_of_refused_posts, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  AbortController controller;
  spawn([&] {
    controller.abort();
    const Operation operation("refused post");
    check(!scheduler.post(&nothing, {.signal = controller.signal()}), "refused");
  });
  {
    const Operation operation("close");
    loop.close(CloseMode::abort());
  }
  {
    const Operation operation("refused post");
    check(!scheduler.post(&nothing), "refused");
    check(scheduler.post_task(&seven).settled(), "refused");
  }
  join_all();
}

namespace {

Promise<void> follow(const Promise<int>& source) { co_await source; }

}  // namespace

/// A promise settles while the agent attaches reactions to it, and others look at it.
HEIST_MODEL_PROGRAM(progress_of_promises, 1) {
  EventLoop loop(on_virtual_clock());
  auto pair = Promise<int>::with_resolver();
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    const Operation operation("resolve");
    resolver->resolve(7);
  });
  spawn([promise = std::make_shared<Promise<int>>(pair.promise)] {
    const Operation operation("copy a promise");
    const auto copy = std::make_unique<Promise<int>>(*promise);
  });
  spawn([&] {
    bool settled = false;
    {
      const Operation operation("look at a promise");
      settled = pair.promise.settled();
      settled &= pair.promise.status() == PromiseStatus::fulfilled;
    }
    if (!settled) return;
    const Operation operation("get when settled");
    check(pair.promise.get() == 7, "the value is there");
  });
  const auto adopting = loop.scheduler().post_task([&] { return pair.promise; });
  loop.scheduler().post([&] {
    {
      const Operation operation("then");
      static_cast<void>(pair.promise.then([](int) {}));
    }
    {
      const Operation operation("co_await");
      static_cast<void>(follow(pair.promise));
    }
    const Operation operation("queue_microtask");
    queue_microtask(&nothing);
  });
  run(loop);
  if (join_all()) run(loop);
}

/// A signal is aborted while tasks and listeners come to it and others look at it.
HEIST_MODEL_PROGRAM(progress_of_aborts, 2) {
  EventLoop loop(on_virtual_clock());
  TaskController controller;
  const auto signal = controller.signal();
  const auto task = loop.scheduler().post_task(&seven, {.signal = signal});
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      const Operation operation("abort");
      controller.abort();
    });
  }
  auto subscription = std::make_unique<Subscription>();
  {
    const Operation operation("subscribe");
    *subscription = signal.on_abort(&nothing);
  }
  {
    const Operation operation("look at a signal");
    static_cast<void>(signal.priority());
    static_cast<void>(signal.aborted());
    static_cast<void>(signal.reason());
  }
  run(loop);
  if (join_all()) return check(task.settled(), "rejected or fulfilled");
  static_cast<void>(subscription.release());  // its end waits for a listener that is frozen
}

/// Listeners come and go while none of them runs, bound to another signal.
HEIST_MODEL_PROGRAM(progress_of_subscriptions, 2) {
  const TaskController controller;
  const AbortController bond;
  const auto signal = controller.signal();
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      auto subscription = [&] {
        const Operation operation("subscribe");
        return signal.on_priority_change(&nothing, {.signal = bond.signal()});
      }();
      const Operation operation("unsubscribe");
      subscription.reset();
    });
  }
  join_all();
}

/// Two changes at once, against a loop that picks.
HEIST_MODEL_PROGRAM(progress_of_changes, 1) {
  EventLoop loop(on_virtual_clock());
  TaskController controller;
  loop.scheduler().post(&nothing, {.signal = controller.signal()});
  for (const auto priority : {TaskPriority::user_blocking, TaskPriority::background}) {
    spawn([&, priority] {
      const Operation operation("set_priority");
      controller.set_priority(priority);
    });
  }
  run(loop);
  if (join_all()) run(loop);
}

/// Stops, and what only counts.
HEIST_MODEL_PROGRAM(progress_of_stops, 2) {
  EventLoop loop(on_virtual_clock());
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      const Operation operation("stop");
      loop.stop();
    });
  }
  spawn([&] {
    {
      const Operation operation("set_error_hook");
      set_error_hook(set_error_hook([](ErrorOrigin, const Reason&) noexcept {}));
    }
    const Operation operation("read counters");
    static_cast<void>(loop.stats());
    static_cast<void>(reported_error_count());
  });
  run(loop);
  join_all();
}
