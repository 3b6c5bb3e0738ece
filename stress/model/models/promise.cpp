// Promises: settling against awaiting, waiting and dropping (PRO-1, PRO-2, YLD-4).
#include <heist/heist.hpp>
#include <memory>
#include <utility>

#include "../support.hpp"

using namespace heist;
using namespace heist::model;

/// Reactions are attached while another thread settles: each runs once, in the order they were
/// attached.
HEIST_MODEL_PROGRAM(settle_against_then, 2) {
  EventLoop loop(on_virtual_clock());
  auto pair = Promise<int>::with_resolver();
  int ran = 0;
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  loop.scheduler().post([&] {
    for (int i = 0; i < 2; ++i) {
      static_cast<void>(pair.promise.then([&, i](int value) {
        check(value == 7 && ran == i, "each once, oldest first");
        ++ran;
      }));
    }
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(ran == 2, "every reaction ran");
}

namespace {

Promise<void> follow(Promise<int> source, int& seen) { seen = co_await source; }

}  // namespace

/// A coroutine awaits while another thread settles, and its loop may sleep meanwhile.
HEIST_BLOCKING_MODEL_PROGRAM(settle_against_await, 2) {
  EventLoop loop(on_virtual_clock());
  auto pair = Promise<int>::with_resolver();
  int seen = 0;
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  loop.scheduler().post(
      [&] { static_cast<void>(follow(pair.promise, seen).then([&] { loop.stop(); })); });
  loop.run();
  join_all();
  check(seen == 7, "the value arrived");
}

/// A plain thread waits, another settles, a third drops a handle: the wait ends, nothing leaks.
HEIST_BLOCKING_MODEL_PROGRAM(settle_against_get_and_drop, 3) {
  auto pair = Promise<int>::with_resolver();
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  spawn([copy = pair.promise]() mutable { const auto gone = std::move(copy); });
  check(pair.promise.get() == 7, "the value arrived");
  join_all();
}

/// Two threads wait on one promise.
HEIST_BLOCKING_MODEL_PROGRAM(two_waiters, 2) {
  auto pair = Promise<int>::with_resolver();
  for (int i = 0; i < 2; ++i) {
    spawn([promise = pair.promise] { check(promise.get() == 7, "the value arrived"); });
  }
  pair.resolver.resolve(7);
  join_all();
}

/// The last of several handles goes on any thread; it destroys what the others have looked at.
HEIST_MODEL_PROGRAM(last_handle_goes_anywhere, 3) {
  auto promise = std::make_unique<Promise<int>>(Promise<int>::resolved(7));
  for (int i = 0; i < 2; ++i) {
    spawn([copy = *promise]() mutable {
      check(copy.get() == 7, "the value is there");
      const auto gone = std::move(copy);
    });
  }
  promise.reset();
  join_all();
}
