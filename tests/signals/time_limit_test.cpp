// Rule: DLY-6. A signal's time limit that has ended aborts at the next pick, before any task,
// however the loop is loaded.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

class TimeLimits : public VirtualLoopFixture {
 protected:
  static constexpr std::chrono::milliseconds limit = 50ms;
  static constexpr std::chrono::microseconds work = 200us;
  /// By then each of them has given up, if nobody tells it to end.
  static constexpr int most_turns = 1000;

  /// Works and yields until the signal aborts.
  Promise<void> work_on(AbortSignal signal) {
    for (int turn = 0; turn < most_turns && !signal.aborted(); ++turn) {
      loop.spend(work);
      co_await scheduler.yield();
    }
  }
  /// When the signal aborted, while so many coroutines work and yield at a priority.
  std::chrono::nanoseconds abort_among_yields(int coroutines, TaskPriority priority) {
    std::chrono::nanoseconds aborted_at{};
    const auto signal = AbortSignal::timeout(scheduler, limit);
    const auto subscription = signal.on_abort([&] { aborted_at = loop.now(); });
    for (int i = 0; i < coroutines; ++i) {
      static_cast<void>(
          scheduler.post_task([this, signal] { return work_on(signal); }, {.priority = priority}));
    }
    loop.run_until_idle();
    return aborted_at;
  }
  /// A task that works, and posts itself again until the signal aborts.
  void work_and_post(const AbortSignal& signal, TaskPriority priority, int turns) {
    loop.spend(work);
    if (turns == 0 || signal.aborted()) return;
    scheduler.post([this, signal, priority, turns] { work_and_post(signal, priority, turns - 1); },
                   {.priority = priority});
  }
  Subscription note_abort(const AbortSignal& signal, std::string label) {
    return signal.on_abort(note(std::move(label)));
  }
};

TEST_F(TimeLimits, limit_when_coroutines_yield_then_late_by_no_more_than_the_running_task) {
  for (const auto priority : {background, user_visible, user_blocking}) {
    for (const int coroutines : {1, 4}) {
      const auto begin = loop.now();
      const auto aborted_at = abort_among_yields(coroutines, priority);
      EXPECT_GE(aborted_at - begin, limit);
      EXPECT_LE(aborted_at - begin, limit + work + 1ms);
    }
  }
}

TEST_F(TimeLimits, limit_when_user_blocking_tasks_never_end_then_aborts_at_the_next_pick) {
  const auto signal = AbortSignal::timeout(scheduler, limit);
  std::chrono::nanoseconds aborted_at{};
  const auto subscription = signal.on_abort([&] { aborted_at = loop.now(); });
  work_and_post(signal, user_blocking, most_turns);
  loop.run_until_idle();
  EXPECT_LE(aborted_at, limit + work);
}

TEST_F(TimeLimits, limit_when_tasks_have_waited_too_long_then_before_these_too) {
  EventLoop guarded({.clock = LoopClock::virtual_time, .max_wait = {.background = 10ms}});
  const auto late = guarded.scheduler();
  const auto signal = AbortSignal::timeout(late, 5ms);
  const auto subscription = note_abort(signal, "abort");
  late.post([&] { guarded.spend(20ms); });
  late.post(note("blocking"), {.priority = user_blocking});
  late.post(note("late"), {.priority = background});
  guarded.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("blocking", "abort", "late"));
}

TEST_F(TimeLimits, limits_when_many_have_ended_then_in_that_order_and_a_task_goes_between) {
  std::vector<Subscription> subscriptions;
  for (int i = 0; i < 40; ++i) {
    const auto signal = AbortSignal::timeout(scheduler, std::chrono::milliseconds(40 - i));
    subscriptions.push_back(note_abort(signal, std::to_string(40 - i)));
  }
  in_task([&] {
    loop.spend(1h);
    post("task");
    post("second task");
  });
  const auto seen = run();
  ASSERT_EQ(seen.size(), 42U);
  EXPECT_EQ(seen[0], "1");
  EXPECT_EQ(seen[31], "32");
  EXPECT_EQ(seen[32], "task");
  EXPECT_EQ(seen[33], "33");
  EXPECT_EQ(seen[40], "40");
  EXPECT_EQ(seen[41], "second task");
}

TEST_F(TimeLimits, limits_when_each_sets_the_next_one_then_tasks_go_on) {
  int aborts = 0;
  bool is_over = false;
  std::vector<Subscription> subscriptions;
  const std::function<void()> set = [&] {
    if (is_over || ++aborts == 1000) return;
    subscriptions.push_back(AbortSignal::timeout(scheduler, 0ms).on_abort(set));
  };
  set();
  scheduler.post([&] { is_over = true; }, {.priority = background});
  loop.run_until_idle();
  EXPECT_LT(aborts, 100);
}

TEST_F(TimeLimits, limits_one_by_one_among_tasks_then_each_is_before_the_next_task) {
  for (int i = 0; i < 100; ++i) {
    const auto signal = AbortSignal::timeout(scheduler, 0ms);
    scheduler.post([this, signal] { trace.add(signal.aborted() ? "in time" : "too late"); },
                   {.priority = user_blocking});
    loop.run_one();
    loop.run_until_idle();
  }
  EXPECT_THAT(trace.take(), Each("in time"));
}

TEST_F(TimeLimits, limit_when_others_have_sent_something_then_aborts_before_that_is_taken) {
  const auto signal = AbortSignal::timeout(scheduler, limit);
  const auto subscription = note_abort(signal, "limit");
  auto sent = Promise<void>::with_resolver();
  static_cast<void>(sent.promise.then(scheduler, note("what was sent")));
  scheduler.post([&] {
    on_thread([&] { sent.resolver.resolve(); });
    loop.spend(2 * limit);
  });
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("limit", "what was sent"));
}

TEST_F(TimeLimits, limit_when_its_scheduler_is_suspended_then_aborts) {
  scheduler.suspend();
  const auto signal = AbortSignal::timeout(scheduler, 5ms);
  post("held");
  loop.advance(5ms);
  EXPECT_TRUE(signal.aborted());
  EXPECT_THAT(run(), IsEmpty());
  scheduler.resume();
  EXPECT_THAT(run(), ElementsAre("held"));
}

TEST_F(TimeLimits, limit_when_held_back_tasks_are_all_there_is_then_the_row_goes_on) {
  std::vector<Subscription> subscriptions;
  for (int i = 0; i < 40; ++i) {
    subscriptions.push_back(note_abort(AbortSignal::timeout(scheduler, 1ms), "abort"));
  }
  in_task([&] {
    loop.spend(1ms);
    post("held");
    scheduler.suspend();
  });
  EXPECT_EQ(run().size(), 40U);
  scheduler.resume();
  EXPECT_THAT(run(), ElementsAre("held"));
}

TEST_F(TimeLimits, limit_alone_when_over_then_is_a_task_for_whoever_drives) {
  EventLoop other({.clock = LoopClock::virtual_time});
  const auto first = AbortSignal::timeout(other.scheduler(), 1ms);
  const auto second = AbortSignal::timeout(other.scheduler(), 2ms);
  const auto third = AbortSignal::timeout(other.scheduler(), 2ms);
  EXPECT_EQ(other.pending(), 3U);
  other.spend(1ms);
  EXPECT_EQ(other.poll(), 1U);
  EXPECT_TRUE(first.aborted());
  other.spend(1ms);
  EXPECT_TRUE(other.run_one());
  EXPECT_TRUE(second.aborted());
  EXPECT_FALSE(third.aborted());
  EXPECT_EQ(other.pending(), 1U);
  EXPECT_EQ(other.run_until_idle(), 1U);
  EXPECT_TRUE(third.aborted());
}

TEST_F(TimeLimits, limit_that_has_ended_when_dropped_before_its_pick_then_no_event) {
  std::optional<AbortSignal> second;
  std::optional<Subscription> event;
  const auto first = AbortSignal::timeout(scheduler, 1ms);
  const auto dropping = first.on_abort([&] {
    event.reset();
    second.reset();
  });
  second = AbortSignal::timeout(scheduler, 1ms);
  event = note_abort(*second, "event");
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), IsEmpty());
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(TimeLimits, limit_that_has_ended_when_the_loop_drains_then_aborts_and_else_never) {
  for (const bool drains : {true, false}) {
    EventLoop other({.clock = LoopClock::virtual_time});
    const auto signal = AbortSignal::timeout(other.scheduler(), 1ms);
    const auto first = AbortSignal::timeout(other.scheduler(), 1ms);
    other.spend(1ms);
    other.run_one();
    EXPECT_TRUE(signal.aborted());
    const auto report = other.close(drains ? CloseMode::drain() : CloseMode::abort());
    EXPECT_EQ(first.aborted(), drains);
    EXPECT_EQ(report.ran, drains ? 1U : 0U);
    EXPECT_EQ(report.aborted, drains ? 0U : 1U);
  }
}

}  // namespace
}  // namespace heist::support
