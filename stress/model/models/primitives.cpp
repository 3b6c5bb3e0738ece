// PRM-1 to PRM-6: permits that are given, waits that are aborted, loops that close and owners that
// go, all at once.
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "../support.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// What became of a wait.
struct Waited {
  bool has_had_it = false;
  bool has_thrown = false;
};

/// Has the lock for a moment, and counts that in data which only the lock guards.
Promise<void> use(const AsyncMutex& mutex, int& users, Waited& wait,
                  std::optional<AbortSignal> signal = {}) {
  try {
    const auto guard = co_await mutex.lock(signal);
    ++users;
    wait.has_had_it = true;
  } catch (const std::exception&) {
    wait.has_thrown = true;
  }
}

void post_use(EventLoop& loop, const AsyncMutex& mutex, int& users, Waited& wait,
              std::optional<AbortSignal> signal = {}) {
  loop.scheduler().post(
      [&mutex, &users, &wait, signal] { static_cast<void>(use(mutex, users, wait, signal)); });
}

}  // namespace

/// A coroutine comes while the only permit is given back: it gets it, and sees what the holder did.
/// (An AsyncMutex orders the two by its lending, too, which would hide what a permit orders.)
HEIST_MODEL_PROGRAM(permit_given_back_against_a_wait, 2) {
  const AsyncSemaphore semaphore(1);
  EventLoop loop(on_virtual_clock());
  int users = 0;
  auto held = semaphore.try_acquire();
  const auto wait = [&]() -> Promise<void> {
    const auto permit = co_await semaphore.acquire();
    ++users;
  };
  loop.scheduler().post([&] { static_cast<void>(wait()); });
  spawn([&] {
    ++users;
    held.release();
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(users == 2, "nobody waits for nothing");
  check(semaphore.available() == 1, "it is free in the end");
}

/// Who takes the lock without a wait finds everything over that was done with it.
HEIST_MODEL_PROGRAM(lock_tried_against_its_end, 3) {
  const AsyncMutex mutex;
  int users = 0;
  auto guard = mutex.try_lock();
  spawn([&] {
    ++users;
    guard.unlock();
  });
  spawn([&] {
    const auto second = mutex.try_lock();
    if (second) ++users;
  });
  if (join_all()) check(static_cast<bool>(mutex.try_lock()), "it is free in the end");
}

/// A wait is aborted while the lock is given up: one of the two has it, and nothing is lost.
HEIST_MODEL_PROGRAM(lock_given_up_against_an_abort, 2) {
  const AsyncMutex mutex;
  EventLoop loop(on_virtual_clock());
  int users = 0;
  Waited aborted;
  Waited next;
  AbortController controller;
  auto guard = mutex.try_lock();
  post_use(loop, mutex, users, aborted, controller.signal());
  post_use(loop, mutex, users, next);
  loop.run_until_idle();
  spawn([&] { guard.unlock(); });
  spawn([&] { controller.abort(); });
  if (!join_all()) return;
  loop.run_until_idle();
  check(aborted.has_had_it != aborted.has_thrown, "it has ended, in one way");
  check(next.has_had_it, "the other one has had it");
  check(static_cast<bool>(mutex.try_lock()), "it is free in the end");
}

/// The last wait is aborted while the lock is given up, and a third thread tries: it is free in the
/// end, and only once.
HEIST_MODEL_PROGRAM(lock_tried_against_an_abort, 2) {
  const AsyncMutex mutex;
  EventLoop loop(on_virtual_clock());
  int users = 0;
  Waited aborted;
  AbortController controller;
  auto guard = mutex.try_lock();
  post_use(loop, mutex, users, aborted, controller.signal());
  loop.run_until_idle();
  spawn([&] {
    ++users;
    guard.unlock();
  });
  spawn([&] { controller.abort(); });
  auto tried = mutex.try_lock();
  if (tried) ++users;
  if (!join_all()) return;
  loop.run_until_idle();
  if (!tried) tried = mutex.try_lock();
  check(static_cast<bool>(tried), "it is free in the end");
  check(!mutex.try_lock(), "there is one lock");
}

/// A waiter's loop is closed while the lock is given up: the next one has it.
HEIST_MODEL_PROGRAM(lock_given_up_against_a_close, 2) {
  const AsyncMutex mutex;
  EventLoop closed(on_virtual_clock());
  EventLoop loop(on_virtual_clock());
  int users = 0;
  Waited lost;
  Waited next;
  auto guard = mutex.try_lock();
  post_use(closed, mutex, users, lost);
  closed.run_until_idle();
  post_use(loop, mutex, users, next);
  loop.run_until_idle();
  spawn([&] { guard.unlock(); });
  closed.close(CloseMode::abort());
  if (!join_all()) return;
  loop.run_until_idle();
  check(next.has_had_it, "nothing is lost");
  check(static_cast<bool>(mutex.try_lock()), "it is free in the end");
}

/// Two permits are given back on two threads, to two who wait.
HEIST_MODEL_PROGRAM(permits_given_back_on_two_threads, 2) {
  const AsyncSemaphore semaphore(2);
  EventLoop loop(on_virtual_clock());
  int had = 0;
  auto first = semaphore.try_acquire();
  auto second = semaphore.try_acquire();
  const auto wait = [&]() -> Promise<void> {
    const auto permit = co_await semaphore.acquire();
    ++had;
  };
  for (int i = 0; i < 2; ++i) loop.scheduler().post([&] { static_cast<void>(wait()); });
  loop.run_until_idle();
  spawn([&] { first.release(); });
  spawn([&] { second.release(); });
  if (!join_all()) return;
  loop.run_until_idle();
  check(had == 2 && semaphore.available() == 2, "nobody waits for nothing");
}

/// Coroutines of two loops come at once. (It is not run frozen: a loop cannot be destroyed while it
/// is driven.)
HEIST_BLOCKING_MODEL_PROGRAM(two_wait_at_once, 2) {
  const AsyncMutex mutex;
  EventLoop loop(on_virtual_clock());
  EventLoop other(on_virtual_clock());
  int users = 0;
  std::array<Waited, 2> waits;
  auto guard = mutex.try_lock();
  post_use(loop, mutex, users, waits[0]);
  post_use(other, mutex, users, waits[1]);
  spawn([&] { other.run_until_idle(); });
  loop.run_until_idle();
  if (!join_all()) return;
  guard.unlock();
  for (int i = 0; i < 2; ++i) {
    loop.run_until_idle();
    other.run_until_idle();
  }
  check(users == 2, "nobody waits for nothing");
}

/// Two waits are aborted at once: the line forgets both.
HEIST_MODEL_PROGRAM(two_are_aborted_at_once, 2) {
  const AsyncMutex mutex;
  EventLoop loop(on_virtual_clock());
  int users = 0;
  std::array<Waited, 2> waits;
  std::array<AbortController, 2> controllers;
  auto guard = mutex.try_lock();
  for (std::size_t i = 0; i < 2; ++i)
    post_use(loop, mutex, users, waits[i], controllers[i].signal());
  loop.run_until_idle();
  for (auto& controller : controllers) spawn([&controller] { controller.abort(); });
  if (!join_all()) return;
  loop.run_until_idle();
  guard.unlock();
  check(waits[0].has_thrown && waits[1].has_thrown, "both have ended");
  check(static_cast<bool>(mutex.try_lock()), "it is free in the end");
}

/// The owner goes while the lock is given up: whoever waits goes on, and the memory is freed once.
HEIST_MODEL_PROGRAM(owner_gone_against_giving_up, 2) {
  std::optional<AsyncMutex> mutex(std::in_place);
  EventLoop loop(on_virtual_clock());
  int users = 0;
  Waited wait;
  auto guard = mutex->try_lock();
  post_use(loop, *mutex, users, wait);
  loop.run_until_idle();
  spawn([&] { guard.unlock(); });
  mutex.reset();
  if (!join_all()) return;
  loop.run_until_idle();
  check(wait.has_had_it != wait.has_thrown, "the wait has ended");
}

/// The owner goes while the only permit is given back: the later of the two frees the memory.
HEIST_MODEL_PROGRAM(owner_gone_against_the_last_permit, 3) {
  std::optional<AsyncSemaphore> semaphore(std::in_place, 1U);
  auto permit = semaphore->try_acquire();
  spawn([&] { permit.release(); });
  semaphore.reset();
  join_all();
}

/// The same, when somebody has waited, and gone.
HEIST_MODEL_PROGRAM(owner_gone_against_an_abort, 2) {
  std::optional<AsyncMutex> mutex(std::in_place);
  EventLoop loop(on_virtual_clock());
  int users = 0;
  Waited wait;
  AbortController controller;
  auto guard = mutex->try_lock();
  post_use(loop, *mutex, users, wait, controller.signal());
  loop.run_until_idle();
  spawn([&] { controller.abort(); });
  mutex.reset();
  if (!join_all()) return;
  loop.run_until_idle();
  check(wait.has_thrown, "the wait has ended");
}

/// An event is set, and reset, while a coroutine comes: it goes on if it had waited before, and
/// sees what the setter did.
HEIST_MODEL_PROGRAM(event_set_against_a_wait, 2) {
  const AsyncEvent event;
  EventLoop loop(on_virtual_clock());
  int data = 0;
  bool has_gone_on = false;
  const auto wait = [&]() -> Promise<void> {
    co_await event.wait();
    has_gone_on = data == 1;
  };
  loop.scheduler().post([&] { static_cast<void>(wait()); });
  spawn([&] {
    data = 1;
    event.set();
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(has_gone_on, "it goes on behind the setter");
}

HEIST_MODEL_PROGRAM(event_pulsed_while_others_serve, 2) {
  const AsyncEvent event;
  EventLoop loop(on_virtual_clock());
  bool first = false;
  AbortController controller;
  const auto wait = [&](bool& went_on, std::optional<AbortSignal> signal) -> Promise<void> {
    try {
      co_await event.wait(signal);
      went_on = true;
    } catch (const std::exception&) {  // aborted
    }
  };
  bool other = false;
  loop.scheduler().post([&] { static_cast<void>(wait(first, {})); });
  loop.scheduler().post([&] { static_cast<void>(wait(other, controller.signal())); });
  loop.run_until_idle();
  spawn([&] { controller.abort(); });
  event.set();
  event.reset();
  if (!join_all()) return;
  loop.run_until_idle();
  check(first, "it had waited before");
}

/// A server that ends without looking again forgets who came meanwhile.
HEIST_MODEL_PROGRAM(naive_server_ends_without_looking_again, 2) {
  sync::atomic<int> requests{0};
  sync::atomic<int> waiting{0};
  sync::atomic<int> served{0};
  const auto wait = [&] {
    waiting.fetch_add(1, sync::seq_cst);
    if (requests.fetch_add(1, sync::seq_cst) != 0) return;
    served.fetch_add(waiting.exchange(0, sync::seq_cst), sync::seq_cst);
    requests.store(0, sync::seq_cst);
  };
  for (int i = 0; i < 2; ++i) spawn(wait);
  if (join_all()) check(served.load(sync::seq_cst) == 2, "nobody waits for nothing");
}

/// An aborter that takes its waiter off the balance before the waiter has counted itself makes a
/// permit of nothing (I1 of SemaphoreCore).
HEIST_MODEL_PROGRAM(naive_abort_before_the_wait_is_counted, 2) {
  sync::atomic<int> balance{0};                         // the only permit is taken
  spawn([&] { balance.fetch_add(1, sync::seq_cst); });  // aborted
  spawn([&] { balance.fetch_sub(1, sync::seq_cst); });  // waits
  int free = balance.load(sync::seq_cst);
  check(free <= 0 || !balance.compare_exchange_strong(free, free - 1, sync::seq_cst, sync::seq_cst),
        "the permit was taken");
  join_all();
}

/// Each of them, frozen at any step, keeps nobody from coming to an end.
HEIST_MODEL_PROGRAM(progress_of_primitives, 1) {
  const AsyncMutex mutex;
  const AsyncEvent event;
  EventLoop loop(on_virtual_clock());
  AbortController controller;
  int users = 0;
  Waited first;
  Waited second;
  auto guard = mutex.try_lock();
  post_use(loop, mutex, users, first, controller.signal());
  loop.run_until_idle();
  spawn([&] {
    const Operation operation("give a lock up");
    guard.unlock();
  });
  spawn([&] {
    const Operation operation("set an event");
    event.set();
  });
  spawn([&] { controller.abort(); });
  post_use(loop, mutex, users, second);
  {
    const Operation operation("wait for a lock");
    loop.run_until_idle();
  }
  if (!join_all()) return;
  loop.run_until_idle();
  check(second.has_had_it, "nobody waits for nothing");
}
