// Closing, stopping and driving (LIF-1, LIF-2).
#include <heist/heist.hpp>

#include "../support.hpp"

using namespace heist;
using namespace heist::model;

/// A task posted while the loop drains and closes runs or is refused; its promise settles, its callback is
/// destroyed.
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

/// Two threads drive one loop in turn, never at once: what its tasks wrote goes from one to the other.
/// (Not run frozen: a loop cannot be destroyed while it is driven.)
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
