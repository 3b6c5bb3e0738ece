// Rules: PRM-1 to PRM-5, of semaphores and mutexes on one loop.
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/pool_memory.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Primitives : public VirtualLoopFixture {
 protected:
  /// Posts a coroutine that waits for the mutex, notes its label with the lock, or the reason.
  Promise<void> lock_in_task(std::string label, const PostTaskOptions& options = {},
                             std::optional<AbortSignal> signal = {}) {
    return scheduler.post_task(
        [this, label, signal]() -> Promise<void> { return lock_and_note(label, signal); }, options);
  }
  Promise<void> lock_and_note(std::string label, std::optional<AbortSignal> signal) {
    try {
      auto guard = co_await mutex->lock(signal);
      trace.add(label);
    } catch (...) {
      trace.add(label + ": " + Reason::of_current_exception().what());
    }
  }

  std::optional<AsyncMutex> mutex{std::in_place};
};

// Rule: PRM-1
TEST_F(Primitives, acquire_when_permits_are_free_then_at_once_and_not_suspended) {
  const AsyncSemaphore semaphore(2);
  in_task([&] {
    const auto take = [&]() -> Promise<void> {
      const auto first = co_await semaphore.acquire();
      const auto second = co_await semaphore.acquire();
      trace.add("both");
      EXPECT_FALSE(semaphore.try_acquire());
    };
    EXPECT_TRUE(take().settled());
  });
  EXPECT_THAT(trace.take(), ElementsAre("both"));
  EXPECT_EQ(semaphore.available(), 2U);
}

// Rule: PRM-1
TEST_F(Primitives, unlock_when_somebody_waits_then_that_one_goes_on_later) {
  auto guard = mutex->try_lock();
  const auto waiting = lock_in_task("waited");
  EXPECT_THAT(run(), IsEmpty());
  guard.unlock();
  EXPECT_THAT(trace.take(), IsEmpty());
  EXPECT_FALSE(mutex->try_lock()) << "it was handed over";
  EXPECT_THAT(run(), ElementsAre("waited"));
  EXPECT_TRUE(mutex->try_lock());
}

// Rule: PRM-2
TEST_F(Primitives, unlock_when_several_wait_then_by_priority_then_age) {
  auto guard = mutex->try_lock();
  std::vector<Promise<void>> waiting;
  const auto begin_wait = [&](std::string label, TaskPriority priority) {
    waiting.push_back(lock_in_task(std::move(label), {.priority = priority}));
    EXPECT_THAT(run(), IsEmpty());  // so that they wait in this order
  };
  begin_wait("low", TaskPriority::background);
  begin_wait("first", TaskPriority::user_visible);
  begin_wait("second", TaskPriority::user_visible);
  begin_wait("high", TaskPriority::user_blocking);
  guard.unlock();
  EXPECT_THAT(run(), ElementsAre("high", "first", "second", "low"));
}

// Rule: PRM-2
TEST_F(Primitives, unlock_when_fixed_and_changing_priorities_are_the_same_then_by_age) {
  auto guard = mutex->try_lock();
  const TaskController low(TaskPriority::background);
  const TaskController high(TaskPriority::user_blocking);
  const PostTaskOptions fixed{.priority = TaskPriority::user_blocking};
  const PostTaskOptions changing{.signal = high.signal()};
  std::vector<Promise<void>> waiting;
  waiting.push_back(lock_in_task("low", {.signal = low.signal()}));
  EXPECT_THAT(run(), IsEmpty());
  waiting.push_back(lock_in_task("1", changing));
  waiting.push_back(lock_in_task("2", fixed));
  waiting.push_back(lock_in_task("3", changing));
  waiting.push_back(lock_in_task("4", fixed));
  EXPECT_THAT(run(), IsEmpty());
  guard.unlock();
  EXPECT_THAT(run(), ElementsAre("1", "2", "3", "4", "low"));
}

// Rule: PRM-2
TEST_F(Primitives, unlock_when_the_priority_of_a_waiter_has_changed_then_by_the_new_one) {
  TaskController changed(TaskPriority::background);
  auto guard = mutex->try_lock();
  const auto one = lock_in_task("visible");
  const auto other = lock_in_task("raised", {.signal = changed.signal()});
  EXPECT_THAT(run(), IsEmpty());
  changed.set_priority(TaskPriority::user_blocking);
  guard.unlock();
  EXPECT_THAT(run(), ElementsAre("raised", "visible"));
}

// Rule: PRM-3
TEST_F(Primitives, lock_when_the_signal_of_the_task_aborts_then_it_throws_the_reason) {
  AbortController controller;
  auto guard = mutex->try_lock();
  const auto aborted = scheduler.post_task([this] { return lock_and_note("aborted", {}); },
                                           {.signal = controller.signal()});
  const auto next = lock_in_task("next");
  EXPECT_THAT(run(), IsEmpty());
  controller.abort(std::runtime_error("enough"));
  static_cast<void>(aborted.reason());
  EXPECT_THAT(run(), ElementsAre("aborted: enough"));
  guard.unlock();
  EXPECT_THAT(run(), ElementsAre("next"));
}

// Rule: PRM-3
TEST_F(Primitives, lock_when_the_given_signal_aborts_then_it_throws_the_reason) {
  AbortController controller;
  auto guard = mutex->try_lock();
  const auto aborted = lock_in_task("aborted", {}, controller.signal());
  EXPECT_THAT(run(), IsEmpty());
  controller.abort(std::runtime_error("enough"));
  EXPECT_THAT(run(), ElementsAre("aborted: enough"));
  guard.unlock();
  EXPECT_TRUE(mutex->try_lock());
}

// Rule: PRM-3
TEST_F(Primitives, lock_when_the_given_signal_is_aborted_then_only_a_wait_throws) {
  const auto aborted = AbortSignal::abort(std::runtime_error("before"));
  const auto free = lock_in_task("free", {}, aborted);
  EXPECT_THAT(run(), ElementsAre("free"));
  auto guard = mutex->try_lock();
  const auto waits = lock_in_task("waits", {}, aborted);
  EXPECT_THAT(run(), ElementsAre("waits: before"));
}

// Rule: PRM-3
TEST_F(Primitives, unlock_when_the_waiter_is_aborted_afterwards_then_it_has_the_lock) {
  AbortController controller;
  auto guard = mutex->try_lock();
  const auto waiting = lock_in_task("waited", {}, controller.signal());
  EXPECT_THAT(run(), IsEmpty());
  guard.unlock();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("waited"));
  EXPECT_TRUE(mutex->try_lock());
}

// Rule: PRM-5
TEST_F(Primitives, mutex_when_destroyed_then_who_waits_goes_on_with_an_error) {
  auto guard = mutex->try_lock();
  const auto waiting = lock_in_task("waited");
  EXPECT_THAT(run(), IsEmpty());
  mutex.reset();
  EXPECT_THAT(run(), ElementsAre("waited: what the coroutine waited for was destroyed"));
  guard.unlock();
}

// Rule: PRM-4
TEST_F(Primitives, unlock_when_the_loop_of_a_waiter_is_closed_then_the_next_one_has_the_lock) {
  auto guard = mutex->try_lock();
  std::optional<EventLoop> other(std::in_place, EventLoopOptions{.clock = LoopClock::virtual_time});
  const auto lost = other->scheduler().post_task([&] { return lock_and_note("lost", {}); });
  other->run_until_idle();
  const auto next = lock_in_task("next");
  EXPECT_THAT(run(), IsEmpty());
  other.reset();
  guard.unlock();
  EXPECT_THAT(run(), ElementsAre("next"));
  EXPECT_TRUE(mutex->try_lock());
}

// Rule: PRM-4
TEST_F(Primitives, release_when_many_waiters_are_of_a_closed_loop_then_they_end_without_recursion) {
  const AsyncSemaphore semaphore(0);
  const auto wait = [&]() -> Promise<void> { const auto permit = co_await semaphore.acquire(); };
  {
    EventLoop other({.clock = LoopClock::virtual_time});
    other.scheduler().post([&] {
      for (int i = 0; i < 100'000; ++i) static_cast<void>(wait());
    });
    other.run_until_idle();
  }
  semaphore.release();
  EXPECT_EQ(semaphore.available(), 1U);
}

// Rule: PRM-3
TEST_F(Primitives, lock_when_many_waits_are_aborted_while_it_is_held_then_memory_is_flat) {
  auto guard = mutex->try_lock();
  const auto abort_waits = [&](int times) {
    for (int i = 0; i < times; ++i) {
      AbortController controller;
      const auto waiting = lock_in_task("", {}, controller.signal());
      loop.run_until_idle();
      controller.abort();
      loop.run_until_idle();
      static_cast<void>(trace.take());
    }
  };
  abort_waits(100);
  const auto before = held_by_pool();
  abort_waits(10'000);
  EXPECT_LE(held_by_pool() - before, flat);
}

// Rule: PRM-1
TEST_F(Primitives, release_when_permits_were_kept_then_those_who_wait_get_them) {
  const AsyncSemaphore semaphore(1);
  semaphore.try_acquire().keep();
  const auto wait = [&](std::string label) -> Promise<void> {
    const auto permit = co_await semaphore.acquire();
    trace.add(label);
  };
  const auto first = scheduler.post_task([&] { return wait("first"); });
  const auto second = scheduler.post_task([&] { return wait("second"); });
  EXPECT_THAT(run(), IsEmpty());
  semaphore.release(3);
  EXPECT_THAT(run(), ElementsAre("first", "second"));
  EXPECT_EQ(semaphore.available(), 3U);
}

// Rule: PRM-1
TEST_F(Primitives, release_of_more_than_can_be_free_then_it_throws_and_adds_none) {
  const AsyncSemaphore semaphore(1);
  EXPECT_THROW(semaphore.release((1U << 30) - 1), std::overflow_error);
  EXPECT_THROW(semaphore.release(~0U), std::overflow_error);
  EXPECT_EQ(semaphore.available(), 1U);
}

// Rule: PRM-1
TEST_F(Primitives, acquire_on_a_plain_thread_when_it_would_wait_then_it_throws) {
  const AsyncSemaphore semaphore(0);
  const auto wait = [&]() -> Promise<void> { const auto permit = co_await semaphore.acquire(); };
  EXPECT_THROW(wait().get(), NotAllowedError);
  semaphore.release();
  EXPECT_TRUE(semaphore.try_acquire());
}

// Rule: PRM-6
TEST_F(Primitives, event_when_set_and_reset_at_once_then_only_those_who_waited_go_on) {
  const AsyncEvent event;
  const auto wait = [&](std::string label) -> Promise<void> {
    co_await event.wait();
    trace.add(label);
  };
  const auto before = scheduler.post_task([&] { return wait("before"); });
  EXPECT_THAT(run(), IsEmpty());
  event.set();
  event.reset();
  const auto after = scheduler.post_task([&] { return wait("after"); });
  EXPECT_THAT(run(), ElementsAre("before"));
  event.set();
  EXPECT_THAT(run(), ElementsAre("after"));
}

}  // namespace
}  // namespace heist::support
