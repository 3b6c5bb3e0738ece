// A loop that sleeps with a descriptor, or shows one to a foreign loop (os/parker.hpp).
#include <poll.h>

#include <heist/heist.hpp>
#include <optional>

#include "../descriptors.hpp"
#include "../support.hpp"
#include "os/parker.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// As a foreign loop: sleeps until the descriptor is readable.
void sleep_on_descriptor(int descriptor) {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  static_cast<void>(poll(&entry, 1, -1));
}

}  // namespace

/// The loop sleeps in its descriptor: no post is lost.
HEIST_BLOCKING_MODEL_PROGRAM(posts_wake_a_descriptor, 2) {
  const Descriptors descriptors;
  EventLoop loop(on_virtual_clock());
  static_cast<void>(loop.wakeup_fd());
  const Scheduler scheduler = loop.scheduler();
  int ran = 0;
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      scheduler.post([&] {
        if (++ran == 2) loop.stop();
      });
    });
  }
  loop.run();
  join_all();
  check(ran == 2, "every task ran once");
}

/// The loop is destroyed as soon as it has run what a thread has queued, which is to wake it.
HEIST_MODEL_PROGRAM(queued_task_against_the_end_of_a_descriptor, 2) {
  const Descriptors descriptors;
  std::optional<EventLoop> loop(on_virtual_clock());
  static_cast<void>(loop->wakeup_fd());
  bool has_run = false;
  spawn([&] { loop->queue_task(TaskSource::message, [&] { has_run = true; }); });
  loop->poll();
  if (has_run) loop.reset();
  if (!join_all()) return;
  if (loop) loop->poll();
  check(has_run, "it ran");
}

/// A foreign loop sleeps in the descriptor, then polls: whenever there is something to do it is
/// readable.
HEIST_BLOCKING_MODEL_PROGRAM(foreign_loop_polls, 2) {
  const Descriptors descriptors;
  EventLoop loop(on_virtual_clock());
  const int descriptor = loop.wakeup_fd();
  const Scheduler scheduler = loop.scheduler();
  int ran = 0;
  for (int i = 0; i < 2; ++i) {
    spawn([&] { scheduler.post([&] { ++ran; }); });
  }
  while (ran < 2) {
    sleep_on_descriptor(descriptor);
    loop.poll();
  }
  join_all();
}

/// The descriptor is made while others post: they wake the loop by the word or by the descriptor.
HEIST_BLOCKING_MODEL_PROGRAM(descriptor_is_made_amid_posts, 2) {
  const Descriptors descriptors;
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  int ran = 0;
  spawn([&] {
    scheduler.post([&] { static_cast<void>(loop.wakeup_fd()); });
    scheduler.post([&] {
      ++ran;
      loop.stop();
    });
  });
  loop.run();
  join_all();
  check(ran == 1, "every task ran once");
}

/// The loop is destroyed while two wakers are at its descriptor, one of them late: the last closes
/// it.
HEIST_MODEL_PROGRAM(destroyed_while_wakers_write, 2) {
  const Descriptors descriptors;
  std::optional<EventLoop> loop(on_virtual_clock());
  static_cast<void>(loop->wakeup_fd());
  for (int i = 0; i < 2; ++i) {
    spawn([scheduler = loop->scheduler()] { static_cast<void>(scheduler.post([] {})); });
  }
  loop->poll();
  loop.reset();
  join_all();
}

/// The same with one waker, who may be done before the loop is closed or after.
HEIST_MODEL_PROGRAM(destroyed_against_waker, 2) {
  const Descriptors descriptors;
  std::optional<EventLoop> loop(on_virtual_clock());
  static_cast<void>(loop->wakeup_fd());
  const Scheduler scheduler = loop->scheduler();
  spawn([&] { loop.reset(); });
  static_cast<void>(scheduler.post([] {}));
  join_all();
}

/// The agent's sleep ends by its deadline while its waker is late; the agent then makes the
/// descriptor, which the waker finds.
HEIST_BLOCKING_MODEL_PROGRAM(descriptor_is_made_before_late_waker, 2) {
  const Descriptors descriptors;
  Parker parker;
  parker.prepare();
  spawn([&] { parker.unpark(); });
  parker.wait(Parker::Clock::time_point::min());
  static_cast<void>(parker.descriptor());
  join_all();
}
