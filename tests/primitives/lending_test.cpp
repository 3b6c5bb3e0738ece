// Who holds a lock runs at the priority of the most urgent one who waits for it (LND).
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <heist/heist.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lending_lock.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using Labels = std::vector<std::string>;

/// Locks, goes on in turns, and unlocks. Each step leaves its name in the trace.
Promise<void> hold(Trace& trace, LendingLock& lock, std::string name, int turns) {
  co_await lock.lock();
  trace.add(name + " locks");
  for (int turn = 1; turn <= turns; ++turn) {
    co_await yield();
    trace.add(name + " " + std::to_string(turn));
  }
  lock.unlock();
  co_await yield();
  trace.add(name + " ends");
}

class Lending : public VirtualLoopFixture {
 protected:
  void hold(LendingLock& of, std::string name, int turns) {
    static_cast<void>(support::hold(trace, of, std::move(name), turns));
  }
  void post_holder(LendingLock& of, std::string name, int turns, const PostTaskOptions& options) {
    scheduler.post([this, &of, name, turns] { hold(of, name, turns); }, options);
  }
  void post_urgent(LendingLock& of) { post_holder(of, "urgent", 0, at_user_blocking); }

  /// Waits for the lock until the signal aborts.
  void try_to_lock(AbortSignal signal) {
    const auto tries = [](LendingLock& lock, AbortSignal signal) -> Promise<void> {
      co_await lock.lock(signal);
    };
    static_cast<void>(tries(lock, std::move(signal)));
  }

  /// Runs this as a task of the lowest priority, and all that follows.
  Labels run_low(std::function<void()> first) {
    scheduler.post(std::move(first), at_background);
    return run();
  }
  /// Runs this task alone, and forgets what it has traced.
  void start(std::function<void()> task, const PostTaskOptions& options) {
    scheduler.post(std::move(task), options);
    EXPECT_TRUE(loop.run_one());
    static_cast<void>(trace.take());
  }

  static inline const PostTaskOptions at_background{.priority = TaskPriority::background};
  static inline const PostTaskOptions at_user_visible{.priority = TaskPriority::user_visible};
  static inline const PostTaskOptions at_user_blocking{.priority = TaskPriority::user_blocking};

  LendingLock lock;
  LendingLock other;
};

namespace {

// Rule: LND-1, LND-3
TEST_F(Lending, holder_when_urgent_waits_then_goes_first_until_it_unlocks) {
  const auto labels = run_low([this] {
    hold(lock, "low", 2);
    post_urgent(lock);
    post("middle");
  });
  EXPECT_EQ(labels, (Labels{"low locks", "low 1", "low 2", "urgent locks", "urgent ends", "middle",
                            "low ends"}));
}

// Rule: LND-1
TEST_F(Lending, holder_when_it_is_queued_already_then_it_is_moved) {
  const auto labels = run_low([this] {
    hold(lock, "low", 1);
    post("middle");
    scheduler.post([this] { post_urgent(lock); });
    post("later");
  });
  EXPECT_EQ(labels, (Labels{"low locks", "middle", "low 1", "urgent locks", "urgent ends", "later",
                            "low ends"}));
}

// Rule: LND-1
TEST_F(Lending, holder_when_it_awaits_a_promise_then_goes_on_at_what_was_lent) {
  const auto awaits = [](Trace& trace, LendingLock& lock, Promise<void> result) -> Promise<void> {
    co_await lock.lock();
    co_await result;
    co_await yield();
    trace.add("low goes on");
    lock.unlock();
  };
  const auto labels = run_low([&] {
    static_cast<void>(awaits(trace, lock, scheduler.post_task([] {}, at_user_blocking)));
    post_urgent(lock);
    post("middle");
  });
  EXPECT_EQ(labels, (Labels{"low goes on", "urgent locks", "urgent ends", "middle"}));
}

// Rule: LND-2
TEST_F(Lending, waiters_when_they_hold_locks_themselves_then_the_whole_chain_is_raised) {
  LendingLock third;
  const auto link = [](Trace& trace, LendingLock& has, LendingLock& wants,
                       std::string name) -> Promise<void> {
    co_await has.lock();
    co_await wants.lock();
    trace.add(name);
    co_await yield();
    wants.unlock();
    has.unlock();
  };
  const auto labels = run_low([&] {
    hold(third, "low", 2);
    static_cast<void>(link(trace, other, third, "next"));
    static_cast<void>(link(trace, lock, other, "last"));
    post_urgent(lock);
    post("middle");
  });
  EXPECT_EQ(labels, (Labels{"low locks", "low 1", "low 2", "next", "last", "urgent locks",
                            "urgent ends", "middle", "low ends"}));
}

// Rule: LND-2
TEST_F(Lending, chain_when_it_has_64_locks_then_the_holder_of_the_last_one_is_raised) {
  std::array<LendingLock, 64> chain;
  const auto link = [](LendingLock& has, LendingLock& wants) -> Promise<void> {
    co_await has.lock();
    co_await wants.lock();
    wants.unlock();
    has.unlock();
  };
  const auto labels = run_low([&] {
    hold(chain.back(), "low", 1);
    for (std::size_t i = chain.size() - 1; i > 0; --i) {
      static_cast<void>(link(chain.at(i - 1), chain.at(i)));
    }
    post_urgent(chain.front());
    post("middle");
  });
  EXPECT_EQ(labels,
            (Labels{"low locks", "low 1", "urgent locks", "urgent ends", "middle", "low ends"}));
}

// Rule: LND-2
TEST_F(Lending, circle_when_an_urgent_task_waits_too_then_its_call_returns) {
  AbortController controller;
  const auto take = [&](LendingLock& has, LendingLock& wants) -> Promise<void> {
    co_await has.lock();
    co_await yield();
    co_await wants.lock(controller.signal());
    wants.unlock();
    has.unlock();
  };
  run_low([&] {
    static_cast<void>(take(lock, other));
    static_cast<void>(take(other, lock));
    scheduler.post([this] { post_urgent(lock); }, at_background);
  });
  controller.abort();  // by which the two end, and leave the locks locked
  lock.unlock();
  EXPECT_EQ(run(), (Labels{"urgent locks", "urgent ends"}));
}

// Rule: LND-2, LND-5
TEST_F(Lending, circle_with_a_shared_state_when_its_lock_is_let_go_then_nothing_is_lent_any_more) {
  const auto waits = [](LendingLock& lock) -> Promise<void> { co_await lock.lock(); };
  const auto starts = [&](LendingLock& lock) -> Promise<void> {
    co_await lock.lock();
    static_cast<void>(waits(lock));
    co_await yield();
    lock.unlock();
    co_await yield();
    trace.add("low ends");
  };
  AbortController controller;
  start([&] { static_cast<void>(starts(lock)); }, at_background);
  start([&] { try_to_lock(controller.signal()); }, at_user_blocking);
  controller.abort();
  EXPECT_TRUE(loop.run_one());
  post("middle");
  EXPECT_EQ(run(), (Labels{"middle", "low ends"}));
  lock.unlock();
}

// Rule: LND-1
TEST_F(Lending, guard_when_another_coroutine_returns_it_then_whoever_gets_it_is_not_raised) {
  AsyncMutex mutex;
  const auto locks = [&]() -> Promise<MutexGuard> {
    auto guard = co_await mutex.lock();
    co_return guard;
  };
  const auto uses = [&]() -> Promise<void> {
    auto locking = locks();
    const auto guard = co_await locking.taken();
    co_await yield();
    trace.add("low");
  };
  const auto waits = [&]() -> Promise<void> {
    const auto guard = co_await mutex.lock();
    trace.add("urgent");
  };
  start([&] { static_cast<void>(uses()); }, at_background);
  start([&] { static_cast<void>(waits()); }, at_user_blocking);
  post("middle");
  EXPECT_EQ(run(), (Labels{"middle", "low", "urgent"}));
}

// Rule: LND-3
TEST_F(Lending, holder_of_two_when_one_is_released_then_the_other_one_still_lends) {
  const auto take_both = [](Trace& trace, LendingLock& one, LendingLock& two) -> Promise<void> {
    co_await one.lock();
    co_await two.lock();
    co_await yield();
    trace.add("has both");
    one.unlock();
    co_await yield();
    trace.add("has the second");
    two.unlock();
    co_await yield();
    trace.add("has none");
  };
  for (LendingLock* const wanted : {&lock, &other}) {
    const auto labels = run_low([&] {
      static_cast<void>(take_both(trace, wanted == &lock ? other : lock, *wanted));
      post_urgent(*wanted);
      post("middle");
    });
    EXPECT_EQ(labels, (Labels{"has both", "has the second", "urgent locks", "urgent ends", "middle",
                              "has none"}));
  }
}

// Rule: LND-3
TEST_F(Lending, holder_of_two_when_the_wanted_one_is_released_then_it_is_not_raised_any_more) {
  const auto take_both = [](Trace& trace, LendingLock& one, LendingLock& two) -> Promise<void> {
    co_await one.lock();
    co_await two.lock();
    co_await yield();
    one.unlock();
    co_await yield();
    trace.add("has the second");
    two.unlock();
  };
  for (LendingLock* const wanted : {&lock, &other}) {
    const auto labels = run_low([&] {
      static_cast<void>(take_both(trace, *wanted, wanted == &lock ? other : lock));
      post_urgent(*wanted);
      post("middle");
    });
    EXPECT_EQ(labels, (Labels{"urgent locks", "urgent ends", "middle", "has the second"}));
  }
}

// Rule: LND-3
TEST_F(Lending, holder_when_another_task_unlocks_then_goes_on_at_its_own_priority) {
  const auto labels = run_low([this] {
    const auto holds = [](Trace& trace, LendingLock& lock) -> Promise<void> {
      co_await lock.lock();
      co_await yield();
      trace.add("low goes on");
    };
    static_cast<void>(holds(trace, lock));
    scheduler.post([this] { lock.unlock(); }, at_user_blocking);
    post("middle");
  });
  EXPECT_EQ(labels, (Labels{"middle", "low goes on"}));
}

// Rule: LND-3
TEST_F(Lending, task_that_starts_a_holder_when_the_holder_is_raised_then_keeps_its_priority) {
  const auto starts = [](Trace& trace, LendingLock& lock) -> Promise<void> {
    static_cast<void>(support::hold(trace, lock, "low", 1));
    co_await yield();
    trace.add("starter");
  };
  const auto labels = run_low([&] {
    static_cast<void>(starts(trace, lock));
    post_urgent(lock);
    post("middle");
  });
  EXPECT_EQ(labels, (Labels{"low locks", "low 1", "urgent locks", "urgent ends", "middle",
                            "starter", "low ends"}));
}

// Rule: LND-4
TEST_F(Lending, base_when_it_is_raised_while_lent_then_the_holder_is_raised) {
  TaskController controller(TaskPriority::background);
  start([this] { hold(lock, "dynamic", 1); }, {.signal = controller.signal()});
  start([this] { hold(lock, "visible", 0); }, at_user_visible);
  controller.set_priority(TaskPriority::user_blocking);
  post("urgent", at_user_blocking);
  EXPECT_EQ(run(),
            (Labels{"dynamic 1", "visible locks", "dynamic ends", "urgent", "visible ends"}));
}

// Rule: LND-4
TEST_F(Lending, base_when_it_is_lowered_while_lent_then_what_is_lent_stays) {
  TaskController controller(TaskPriority::user_blocking);
  start([this] { hold(lock, "dynamic", 1); }, {.signal = controller.signal()});
  controller.set_priority(TaskPriority::background);
  start([this] { hold(lock, "visible", 0); }, at_user_visible);
  post("urgent", at_user_blocking);
  EXPECT_EQ(run(),
            (Labels{"urgent", "dynamic 1", "visible locks", "visible ends", "dynamic ends"}));
}

// Rule: LND-4
TEST_F(Lending, waiter_when_its_signal_is_raised_then_lends_that) {
  TaskController controller(TaskPriority::user_visible);
  start([this] { hold(lock, "low", 1); }, at_background);
  start([this] { hold(lock, "waiter", 0); }, {.signal = controller.signal()});
  controller.set_priority(TaskPriority::user_blocking);
  post("urgent", at_user_blocking);
  EXPECT_EQ(run(), (Labels{"low 1", "waiter locks", "waiter ends", "urgent", "low ends"}));
}

// Rule: LND-5
TEST_F(Lending, holder_when_the_waiter_gives_up_then_goes_on_at_its_own_priority) {
  AbortController controller;
  start([this] { hold(lock, "low", 1); }, at_background);
  start([&] { try_to_lock(controller.signal()); }, at_user_blocking);
  controller.abort();
  post("middle");
  EXPECT_EQ(run(), (Labels{"middle", "low 1", "low ends"}));
}

// Rule: LND-1, LND-5
TEST_F(Lending, holder_when_many_have_lent_and_given_up_then_the_next_one_still_lends) {
  start([this] { hold(lock, "low", 1); }, at_background);
  for (int i = 0; i < 1000; ++i) {
    AbortController controller;
    start([&] { try_to_lock(controller.signal()); }, at_user_blocking);
    controller.abort();
  }
  post_urgent(lock);
  post("middle");
  EXPECT_EQ(run(), (Labels{"low 1", "urgent locks", "urgent ends", "middle", "low ends"}));
}

// Rule: LND-3, ABT-6
TEST_F(Lending, holder_when_its_signal_aborts_then_its_yield_ends_and_it_is_not_raised_any_more) {
  const auto holds = [](Trace& trace, LendingLock& lock) -> Promise<void> {
    co_await lock.lock();
    try {
      co_await yield();
    } catch (const AbortError&) {
      trace.add("aborted");
    }
    lock.unlock();
    co_await yield({YieldSignal(), ContinuationPriority::inherit});
    trace.add("low ends");
  };
  AbortController controller;
  start([&] { static_cast<void>(holds(trace, lock)); },
        {.signal = controller.signal(), .priority = TaskPriority::background});
  start([this] { hold(lock, "urgent", 0); }, at_user_blocking);
  controller.abort();
  post("middle");
  EXPECT_EQ(run(), (Labels{"aborted", "urgent locks", "urgent ends", "middle", "low ends"}));
}

// Rule: LND-1
TEST_F(Lending, holder_when_it_goes_on_on_another_loop_then_is_raised_there) {
  const auto moves = [](Trace& trace, LendingLock& lock, Scheduler to) -> Promise<void> {
    co_await lock.lock();
    co_await resume_on(to);
    co_await yield();
    trace.add("low has moved");
    lock.unlock();
  };
  EventLoop there;
  start([&] { static_cast<void>(moves(trace, lock, there.scheduler())); }, at_background);
  there.scheduler().post(note("middle"));
  start([this] { hold(lock, "urgent", 0); }, at_user_blocking);
  there.run_until_idle();
  EXPECT_EQ(trace.take(), (Labels{"low has moved", "middle"}));
  EXPECT_EQ(run(), (Labels{"urgent locks", "urgent ends"}));
}

// Rule: LND-6
TEST_F(Lending, holder_when_its_scheduler_has_a_ceiling_then_is_not_raised_above_it) {
  const Scheduler everywhere =
      std::exchange(scheduler, scheduler.with_ceiling(TaskPriority::user_visible));
  start([this] { hold(lock, "low", 1); }, at_background);
  scheduler = everywhere;
  start([this] { hold(lock, "urgent", 0); }, at_user_blocking);
  post("urgent too", at_user_blocking);
  post("middle");
  EXPECT_EQ(run(),
            (Labels{"urgent too", "low 1", "urgent locks", "urgent ends", "middle", "low ends"}));
}

// Rule: LND-6
TEST_F(Lending, waiter_when_its_scheduler_has_a_ceiling_then_lends_no_more_than_that) {
  const Scheduler everywhere = scheduler;
  TaskController controller(TaskPriority::user_blocking);
  start([this] { hold(lock, "low", 1); }, at_background);
  scheduler = scheduler.with_ceiling(TaskPriority::user_visible);
  start([this] { hold(lock, "waiter", 0); }, {.signal = controller.signal()});
  scheduler = everywhere;
  post("urgent", at_user_blocking);
  post("middle");
  EXPECT_EQ(run(),
            (Labels{"urgent", "low 1", "waiter locks", "waiter ends", "middle", "low ends"}));
}

// Rule: LND-1, LIF-1
TEST_F(Lending, loop_when_it_closes_with_a_holder_and_a_waiter_then_nothing_is_left) {
  const auto holds = [](LendingLock& lock) -> Promise<void> {
    co_await lock.lock();
    co_await yield();
    lock.unlock();
  };
  Promise<void> holder = Promise<void>::resolved();
  start([&] { holder = holds(lock); }, at_background);
  start([this] { hold(lock, "urgent", 0); }, at_user_blocking);
  loop.close(CloseMode::abort());
  lock.give_up_all();
  EXPECT_EQ(holder.status(), PromiseStatus::rejected);
}

}  // namespace
}  // namespace heist::support
