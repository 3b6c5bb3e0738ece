// Posting to an agent that sleeps, or is about to: no post is lost, none waits for another one
// (ORD-2, CLU-3).
#include <heist/heist.hpp>

#include "../support.hpp"

using namespace heist;
using namespace heist::model;

/// Two posters; the loop runs until both tasks ran.
HEIST_BLOCKING_MODEL_PROGRAM(two_posters_wake_an_agent, 2) {
  EventLoop loop(on_virtual_clock());
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

/// Plain data of the poster reaches its task, and a post that returned before another one is older.
HEIST_BLOCKING_MODEL_PROGRAM(posts_keep_their_order, 3) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  int data = 0;
  int last = 0;
  spawn([&] {
    data = 1;
    for (int i = 1; i <= 2; ++i) {
      scheduler.post([&, i] {
        check(data == 1 && last == i - 1, "first posted, first run");
        last = i;
        if (i == 2) loop.stop();
      });
    }
  });
  loop.run();
  join_all();
}
