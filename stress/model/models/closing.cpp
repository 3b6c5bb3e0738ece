// Closing, stopping and driving (LIF-1, LIF-2).
#include <heist/heist.hpp>

#include "../cluster.hpp"
#include "loop/close_calls.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// A task posted while the loop drains and closes runs or is refused; its promise settles, its
/// callback is destroyed.
HEIST_MODEL_PROGRAM(close_against_post, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  int ran = 0;
  Promise<int> task = Promise<int>::resolved(0);
  spawn([&] {
    task = scheduler.post_task([&] {
      ++ran;
      return 7;
    });
  });
  loop.close(CloseMode::drain());
  if (!join_all()) return;
  check(task.settled(), "the promise is settled");
  check((task.status() == PromiseStatus::fulfilled) == (ran == 1), "fulfilled if it ran");
}

/// A reaction is delivered to a loop that closes: the promise that depends on it settles.
HEIST_MODEL_PROGRAM(close_against_settle, 2) {
  EventLoop loop(on_virtual_clock());
  auto pair = Promise<int>::with_resolver();
  Promise<int> result = Promise<int>::resolved(0);
  loop.scheduler().post([&] { result = pair.promise.then([](int value) { return value; }); });
  loop.run_until_idle();
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  loop.close(CloseMode::abort());
  if (!join_all()) return;
  check(result.settled(), "the dependent promise is settled");
}

/// Two stops: a run ends.
HEIST_BLOCKING_MODEL_PROGRAM(stop_wakes_the_loop, 2) {
  EventLoop loop(on_virtual_clock());
  for (int i = 0; i < 2; ++i) {
    spawn([&] { loop.stop(); });
  }
  loop.run();
  join_all();
}

/// A stop ends one run; the next stop ends the next.
HEIST_BLOCKING_MODEL_PROGRAM(each_stop_ends_a_run, 2) {
  EventLoop loop(on_virtual_clock());
  for (int i = 0; i < 2; ++i) {
    spawn([&] { loop.stop(); });
    loop.run();
    join_all();
  }
}

namespace {

void poll_if_free(EventLoop& loop) {
  try {
    loop.poll();
  } catch (const NotAllowedError&) {  // the other one drives it
  }
}

}  // namespace

/// Two threads drive one loop in turn, never at once: what its tasks wrote goes from one to the
/// other. (Not run frozen: a loop cannot be destroyed while it is driven.)
HEIST_BLOCKING_MODEL_PROGRAM(two_drivers, 2) {
  EventLoop loop(on_virtual_clock());
  int ran = 0;
  loop.scheduler().post([&] { ++ran; });
  for (int i = 0; i < 2; ++i) {
    spawn([&] { poll_if_free(loop); });
  }
  loop.scheduler().post([&] { ++ran; });
  join_all();
  poll_if_free(loop);
  check(ran == 2, "every task ran once");
}

/// Two threads hurry a drain that waits for what is suspended: whatever it was doing, it ends.
HEIST_BLOCKING_MODEL_PROGRAM(hurries_against_a_drain, 2) {
  const ModelTime time;
  EventLoop loop(on_model_time());
  const Scheduler scheduler = loop.scheduler();
  static_cast<void>(Access::core(loop).close_terms().may_tell());  // so that no look gets it up
  const auto held = scheduler.post_task([] { return 7; });
  scheduler.suspend();
  auto patient = CloseMode::drain();
  patient.wait_for_delayed = true;
  spawn([&] { Access::core(loop).closing().hurry(patient); });
  spawn([&] { Access::core(loop).closing().hurry(CloseMode::abort()); });
  loop.close(patient);
  join_all();
  check(held.status() == PromiseStatus::rejected, "what is held back rejects");
}

/// A closer counts what the inbox holds while the agent takes, runs and frees it.
HEIST_BLOCKING_MODEL_PROGRAM(count_against_take, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  int ran = 0;
  spawn([&] {
    scheduler.post([&] { ++ran; });
    scheduler.post([&] { ++ran; });
  });
  spawn([&] {
    const auto tally = Access::core(loop).counts().try_tally();
    check(!tally || tally->begun + tally->not_started <= 2, "it counts no more than there are");
  });
  loop.run_until_idle();
  join_all();
  loop.run_until_idle();
  check(ran == 2 && Access::core(loop).counts().try_tally()->not_started == 0, "nothing is left");
}

/// A closer adds up the tasks of an agent that runs them: each is in one place, and none has ended
/// that still runs.
HEIST_BLOCKING_MODEL_PROGRAM(tally_against_run, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  sync::atomic<unsigned> returned{0};
  const auto work = [&] { returned.fetch_add(1, sync::relaxed); };  // relaxed: see below
  scheduler.post(work);
  scheduler.post(work);
  spawn([&] {
    const auto begun = Access::core(loop).counts().try_begun();
    // relaxed: what the count has seen to end has returned before.
    check(!begun || begun->ended() <= returned.load(sync::relaxed), "what has ended has returned");
    const auto tally = Access::core(loop).counts().try_tally();
    check(!tally || tally->begun + tally->not_started == 2, "each of them is counted once");
  });
  loop.run_until_idle();
  join_all();
}

/// Of two calls of close() the later one leaves; the earlier one returns with it, or with the
/// agent's end, whose data it sees.
HEIST_BLOCKING_MODEL_PROGRAM(calls_against_an_end, 2) {
  CloseCalls calls;
  int data = 0;
  const auto earlier = CloseCalls::next();
  const auto later = CloseCalls::next();
  const auto look = [&] {
    if (calls.stage() == CloseCalls::Stage::stopped) check(data == 1, "what it did until then");
  };
  spawn([&] {
    check(calls.wait(earlier, {}), "it returns");
    look();
  });
  spawn([&] {
    calls.leave(later);
    look();
  });
  data = 1;
  calls.reach(CloseCalls::Stage::stopped);
  join_all();
}

/// The same when the agent never ends.
HEIST_BLOCKING_MODEL_PROGRAM(a_call_leaves_with_a_later_one, 2) {
  CloseCalls calls;
  const auto earlier = CloseCalls::next();
  const auto later = CloseCalls::next();
  spawn([&] { check(calls.wait(earlier, {}), "it returns"); });
  calls.leave(later);
  calls.leave(earlier);
  join_all();
}
