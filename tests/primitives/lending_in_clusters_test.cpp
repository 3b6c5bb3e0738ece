// Lending between the agents of a cluster.
#include <gtest/gtest.h>

#include <atomic>
#include <heist/heist.hpp>
#include <latch>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "flood.hpp"
#include "lending_lock.hpp"

namespace heist::support {

/// Holds the lock until somebody is about to wait for it, and for some turns more.
Promise<void> hold_for_turns(LendingLock& lock, std::latch& is_held,
                             const std::atomic<bool>& is_wanted) {
  co_await lock.lock();
  is_held.count_down();
  while (!is_wanted.load()) co_await yield();
  for (int turn = 0; turn < 10; ++turn) co_await yield();
  lock.unlock();
}
/// Holds one lock, and awaits the other one.
Promise<void> hold_and_wait(LendingLock& has, LendingLock& wants, std::latch& is_held) {
  co_await has.lock();
  is_held.count_down();
  co_await wants.lock();
  wants.unlock();
  has.unlock();
}
Promise<void> lock_urgently(LendingLock& lock, std::atomic<bool>& is_wanted, Flood& flood) {
  is_wanted.store(true);
  co_await lock.lock();
  flood.is_stopped.store(true);
  lock.unlock();
}

/// Once with as many agents as the parameter says.
class LendingOn : public ClusterOf {
 protected:
  /// Starts a coroutine in a task of its own.
  template <class Start>
  Promise<void> start(Start start, TaskPriority priority) {
    return scheduler().post_task(std::move(start), {.priority = priority});
  }
  void start_flood() { flood_.start(scheduler(), 4 * GetParam()); }

  LendingLock lock_;
  LendingLock next_;
  std::atomic<bool> is_wanted_{false};
  Flood flood_;
};

INSTANTIATE_TEST_SUITE_P(, LendingOn, sizes, size_name);

// Rule: LND-1
TEST_P(LendingOn, urgent_task_when_others_flood_the_cluster_then_gets_the_lock_before_their_end) {
  std::latch is_held(1);
  const auto holder =
      start([&] { return hold_for_turns(lock_, is_held, is_wanted_); }, TaskPriority::background);
  is_held.wait();
  start_flood();
  const auto urgent =
      start([&] { return lock_urgently(lock_, is_wanted_, flood_); }, TaskPriority::user_blocking);
  EXPECT_TRUE(settles(urgent));
  EXPECT_GT(flood_.left.load(), 0);
  EXPECT_TRUE(settles(holder));
}

// Rule: LND-2
TEST_P(LendingOn, urgent_task_when_the_holder_waits_itself_then_raises_both_holders) {
  std::latch is_held(1);
  std::latch next_is_held(1);
  const auto last = start([&] { return hold_for_turns(next_, next_is_held, is_wanted_); },
                          TaskPriority::background);
  next_is_held.wait();
  const auto holder =
      start([&] { return hold_and_wait(lock_, next_, is_held); }, TaskPriority::user_visible);
  is_held.wait();
  start_flood();
  const auto urgent =
      start([&] { return lock_urgently(lock_, is_wanted_, flood_); }, TaskPriority::user_blocking);
  EXPECT_TRUE(settles(urgent));
  EXPECT_GT(flood_.left.load(), 0);
  EXPECT_TRUE(settles(holder));
  EXPECT_TRUE(settles(last));
}

namespace {

/// Locks, adds to what the lock guards, yields, and adds again.
Promise<void> add_twice(LendingLock& lock, int& sum) {
  for (int i = 0; i < 20; ++i) {
    co_await lock.lock();
    ++sum;
    co_await yield();
    ++sum;
    lock.unlock();
    co_await yield();
  }
}
Promise<void> add_twice_under_both(LendingLock& outer, LendingLock& inner, int& sum) {
  co_await outer.lock();
  const auto added = add_twice(inner, sum);
  co_await added;
  outer.unlock();
}

}  // namespace

// Rule: LND-1, LND-2, LND-3
TEST_P(LendingOn, many_tasks_of_all_priorities_when_they_share_locks_then_all_of_them_end) {
  int sum = 0;
  std::vector<Promise<void>> ends;
  TaskController controller;
  for (int i = 0; i < 60; ++i) {
    const auto priority = static_cast<TaskPriority>(i % 3);
    auto body = [this, &sum, i] {
      return i % 2 == 0 ? add_twice(lock_, sum) : add_twice_under_both(next_, lock_, sum);
    };
    if (i % 5 == 0) {
      ends.push_back(scheduler().post_task(body, {.signal = controller.signal()}));
      controller.set_priority(priority);
    } else {
      ends.push_back(start(body, priority));
    }
  }
  for (const auto& end : ends) EXPECT_TRUE(settles(end));
  EXPECT_EQ(sum, 60 * 20 * 2);
}

// Rule: LND-5, LIF-1
TEST_P(LendingOn, cluster_when_it_closes_among_holders_and_waiters_then_nothing_is_left) {
  int sum = 0;
  std::vector<Promise<void>> ends;
  for (int i = 0; i < 60; ++i) {
    ends.push_back(start([&] { return add_twice_under_both(next_, lock_, sum); },
                         static_cast<TaskPriority>(i % 3)));
    ends.push_back(start([&] { return add_twice(lock_, sum); }, static_cast<TaskPriority>(i % 3)));
  }
  end();
  lock_.give_up_all();
  next_.give_up_all();
  for (const auto& promise : ends) EXPECT_TRUE(promise.settled());
  ends.clear();
  static_cast<void>(errors.take());  // nobody has observed that the promises were rejected
}

}  // namespace heist::support
