// Rule: LIF-1: closing an EventLoop. WPT: DET-01, DET-03, MT-12, MT-13.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "support/close_modes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::LoopTest;
using test::Trace;

class Lif1Drain : public LoopTest {};

TEST_F(Lif1Drain, close_when_draining_then_runs_what_is_queued_and_reports_it) {
  scheduler.post(note("1"));
  const auto promise = scheduler.post_task([] { return 2; });
  EXPECT_EQ(loop.close(CloseMode::drain()), (CloseReport{.ran = 2}));
  EXPECT_EQ(trace, (Trace{"1"}));
  EXPECT_EQ(promise.get(), 2);
}

TEST_F(Lif1Drain, close_when_a_draining_task_posts_then_that_runs_too) {
  scheduler.post([this] {
    trace.emplace_back("1");
    scheduler.post([this] {
      trace.emplace_back("2");
      static_cast<void>(scheduler.post_task([] {}).then(note("3")));
    });
  });
  EXPECT_EQ(loop.close(CloseMode::drain()), (CloseReport{.ran = 3}));
  EXPECT_EQ(trace, (Trace{"1", "2", "3"}));
}

TEST_F(Lif1Drain, close_when_a_coroutine_awaits_tasks_of_the_loop_then_it_ends) {
  const auto promise = scheduler.post_task([this]() -> Promise<int> {
    int sum = 0;
    for (int i = 1; i <= 3; ++i) {
      const auto task = scheduler.post_task([i] { return i; });
      const int value = co_await task;
      sum += value;
    }
    co_return sum;
  });
  loop.close(CloseMode::drain());
  EXPECT_EQ(promise.get(), 6);
}

TEST_F(Lif1Drain, close_when_tasks_came_from_another_thread_and_were_not_seen_yet_then_runs_them) {
  test::on_plain_thread([this] { scheduler.post(note("posted")); });
  loop.close(CloseMode::drain());
  EXPECT_EQ(trace, (Trace{"posted"}));
}

TEST_F(Lif1Drain, close_when_draining_then_priorities_and_order_hold) {
  scheduler.post(note("background"), {.priority = TaskPriority::background});
  scheduler.post(note("visible"));
  scheduler.post(note("blocking"), {.priority = TaskPriority::user_blocking});
  loop.close(CloseMode::drain());
  EXPECT_EQ(trace, (Trace{"blocking", "visible", "background"}));
}

// Rule: PRI-3
TEST_F(Lif1Drain, close_when_a_draining_task_changes_a_priority_then_picks_follow) {
  TaskController controller(TaskPriority::background);
  scheduler.post([&] { controller.set_priority(TaskPriority::user_blocking); });
  scheduler.post(note("visible"));
  scheduler.post(note("raised"), {.signal = controller.signal()});
  loop.close(CloseMode::drain());
  EXPECT_EQ(trace, (Trace{"raised", "visible"}));
}

// Rule: PRI-3
TEST_F(Lif1Drain, close_when_another_thread_changes_a_priority_meanwhile_then_picks_follow) {
  TaskController controller(TaskPriority::background);
  scheduler.post([&] {
    test::on_plain_thread([&] { controller.set_priority(TaskPriority::user_blocking); });
  });
  scheduler.post(note("visible"));
  scheduler.post(note("raised"), {.signal = controller.signal()});
  loop.close(CloseMode::drain());
  EXPECT_EQ(trace, (Trace{"raised", "visible"}));
}

// Rule: ABT-2
TEST_F(Lif1Drain, close_when_a_draining_task_aborts_others_then_they_do_not_run) {
  AbortController controller;
  const auto probe = std::make_shared<int>();
  scheduler.post([&] { controller.abort(); });
  const auto promise =
      scheduler.post_task([this, probe] { note("aborted")(); }, {.signal = controller.signal()});
  scheduler.post(note("other"));
  loop.close(CloseMode::drain());
  EXPECT_EQ(trace, (Trace{"other"}));
  EXPECT_EQ(promise.reason(), controller.signal().reason());
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1Drain, close_when_tasks_are_delayed_then_they_reject_and_count_as_aborted) {
  const auto probe = std::make_shared<int>();
  const auto delayed = scheduler.post_task([probe] {}, {.delay = 5ms});
  scheduler.post([probe] {}, {.delay = 1h});
  EXPECT_EQ(loop.close(CloseMode::drain()), (CloseReport{.aborted = 2}));
  EXPECT_TRUE(test::is<AbortError>(delayed.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1Drain, close_when_a_draining_task_posts_a_delayed_one_then_that_rejects) {
  auto delayed = Promise<void>::resolved();
  scheduler.post([&] { delayed = scheduler.post_task([] {}, {.delay = 1ms}); });
  EXPECT_EQ(loop.close(CloseMode::drain()), (CloseReport{.ran = 1, .aborted = 1}));
  EXPECT_TRUE(test::is<AbortError>(delayed.reason()));
}

/// Drains, delayed tasks included.

TEST(Lif1DrainDelayed, close_when_asked_to_wait_for_delayed_tasks_then_they_run) {
  EventLoop loop;
  const auto promise = loop.scheduler().post_task(
      [scheduler = loop.scheduler()] {
        return scheduler.post_task([] { return 4; }, {.delay = 1ms});
      },
      {.delay = 2ms});
  EXPECT_EQ(loop.close(support::drain_all()), (CloseReport{.ran = 2}));
  EXPECT_EQ(promise.get(), 4);
}

TEST(Lif1DrainDelayed, close_when_waiting_for_delayed_tasks_then_those_that_never_come_reject) {
  EventLoop loop;
  const auto promise = loop.scheduler().post_task([] {}, {.delay = Delay::never()});
  EXPECT_EQ(loop.close(support::drain_all()), (CloseReport{.aborted = 1}));
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

// Rule: ABT-4: an aborted delay is not waited for.
TEST(Lif1DrainDelayed,
     close_when_waiting_for_a_delayed_task_that_another_thread_aborts_then_returns) {
  EventLoop loop;
  AbortController controller;
  const auto promise =
      loop.scheduler().post_task([] {}, {.signal = controller.signal(), .delay = 1h});
  std::thread aborter;
  loop.scheduler().post([&] { aborter = std::thread([&] { controller.abort(); }); });
  auto mode = support::drain_all();
  mode.deadline = Clock::now() + test::patience;
  loop.close(mode);
  EXPECT_LT(Clock::now(), *mode.deadline);
  aborter.join();
  EXPECT_EQ(promise.reason(), controller.signal().reason());
}

TEST(Lif1DrainDelayed, close_when_the_deadline_comes_before_the_delays_then_they_reject) {
  EventLoop loop;
  const auto promise = loop.scheduler().post_task([] {}, {.delay = 1h});
  auto mode = support::drain_all();
  mode.deadline = Clock::now() + 2ms;
  EXPECT_EQ(loop.close(mode), (CloseReport{.aborted = 1}));
  EXPECT_GE(Clock::now(), *mode.deadline);
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

class Lif1Deadline : public LoopTest {};

TEST_F(Lif1Deadline, close_when_the_deadline_is_past_then_nothing_runs) {
  scheduler.post(note("task"));
  const auto promise = scheduler.post_task(note("task"));
  EXPECT_EQ(loop.close(CloseMode::drain_until(Clock::now())), (CloseReport{.aborted = 2}));
  EXPECT_EQ(trace, Trace{});
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

/// Closes a loop with two tasks of which the first one runs until the deadline; nothing when the
/// deadline came before the first one.
std::optional<CloseReport> close_in_the_first_task(std::chrono::milliseconds limit) {
  EventLoop loop;
  bool first_ran = false;
  const auto deadline = Clock::now() + limit;
  const auto first = loop.scheduler().post_task([&] {
    first_ran = true;
    while (Clock::now() < deadline) {
    }
    return 1;
  });
  const auto second = loop.scheduler().post_task([] {});
  const CloseReport report = loop.close(CloseMode::drain_until(deadline));
  EXPECT_TRUE(test::is<AbortError>(second.reason()));
  if (!first_ran) return std::nullopt;
  EXPECT_EQ(first.get(), 1);
  return report;
}

TEST_F(Lif1Deadline, close_when_the_deadline_comes_while_draining_then_the_rest_rejects) {
  std::optional<CloseReport> report;
  for (auto limit = 5ms; !report && limit < test::patience; limit *= 2) {
    report = close_in_the_first_task(limit);
  }
  EXPECT_EQ(report, (CloseReport{.ran = 1, .aborted = 1}));
}

TEST_F(Lif1Deadline, close_when_everything_is_done_before_the_deadline_then_does_not_wait_for_it) {
  scheduler.post(note("task"));
  const auto deadline = Clock::now() + 1h;
  EXPECT_EQ(loop.close(CloseMode::drain_until(deadline)), (CloseReport{.ran = 1}));
}

class Lif1Abort : public LoopTest {};

TEST_F(Lif1Abort,
       WPT_DET_01_close_when_aborting_then_nothing_runs_and_all_is_rejected_and_destroyed) {
  const auto probe = std::make_shared<int>();
  AbortController controller;
  std::vector<Promise<void>> promises;
  for (const PostTaskOptions& options :
       {PostTaskOptions{}, PostTaskOptions{.delay = 1h},
        PostTaskOptions{.signal = controller.signal()},
        PostTaskOptions{.signal = controller.signal(), .delay = 5ms}}) {
    scheduler.post([this, probe] { note("ran")(); }, options);
    promises.push_back(scheduler.post_task([this, probe] { note("ran")(); }, options));
  }
  test::on_plain_thread([&] { scheduler.post([this, probe] { note("ran")(); }); });
  EXPECT_EQ(loop.close(CloseMode::abort()), (CloseReport{.aborted = 9}));
  EXPECT_EQ(trace, Trace{});
  EXPECT_EQ(probe.use_count(), 1);
  for (const auto& promise : promises) EXPECT_TRUE(test::is<AbortError>(promise.reason()));
  EXPECT_FALSE(controller.signal().aborted());  // the loop ends, not the signal
}

TEST_F(Lif1Abort, close_when_nothing_is_there_then_reports_nothing) {
  EXPECT_EQ(loop.close(CloseMode::abort()), CloseReport{});
}

TEST_F(Lif1Abort, close_when_called_again_then_reports_the_same) {
  scheduler.post([] {});
  for (const auto& mode :
       {CloseMode::drain(), CloseMode::abort(), CloseMode::drain_until(Clock::now())}) {
    EXPECT_EQ(loop.close(mode), (CloseReport{.ran = 1}));
  }
}

TEST_F(Lif1Abort, close_when_some_tasks_ran_before_then_they_are_not_in_the_report) {
  run_task([] {});
  scheduler.post([] {});
  EXPECT_EQ(loop.close(CloseMode::drain()), (CloseReport{.ran = 1}));
}

// Rule: PRO-3 (a close is an abort)
TEST_F(Lif1Abort, close_when_nobody_observes_the_rejections_then_not_reported) {
  const test::ErrorLog log;
  static_cast<void>(scheduler.post_task([] {}));
  loop.close(CloseMode::abort());
  EXPECT_TRUE(test::ErrorLog::take().empty());
}

TEST_F(Lif1Abort, close_when_tasks_reject_then_their_reactions_still_run_on_the_loop) {
  run_task([this] {
    static_cast<void>(scheduler.post_task([] {}, {.delay = 1h})
                          .then([] {},
                                [this](const Reason& reason) {
                                  EXPECT_TRUE(test::is<AbortError>(reason));
                                  trace.emplace_back("rejected");
                                }));
  });
  loop.close(CloseMode::abort());
  EXPECT_EQ(trace, (Trace{"rejected"}));
}

TEST_F(Lif1Abort, close_when_a_reaction_to_a_rejection_posts_then_refused) {
  std::optional<bool> accepted;
  auto posted = Promise<void>::resolved();
  run_task([&] {
    static_cast<void>(scheduler.post_task([] {}, {.delay = 1h})
                          .then([] {},
                                [&](const Reason&) {
                                  accepted = scheduler.post([] {});
                                  posted = scheduler.post_task([] {});
                                }));
  });
  loop.close(CloseMode::abort());
  EXPECT_EQ(accepted, false);
  EXPECT_TRUE(test::is<InvalidStateError>(posted.reason()));
}

TEST_F(Lif1Abort, close_when_a_coroutine_awaits_a_dropped_task_then_it_sees_the_rejection) {
  const auto promise = scheduler.post_task([this]() -> Promise<int> {
    const auto far = scheduler.post_task([] { return 1; }, {.delay = 1h});
    try {
      const int value = co_await far;
      co_return value;
    } catch (const AbortError&) {
      trace.emplace_back("caught");
      co_return -1;
    }
  });
  loop.run_until_idle();
  loop.close(CloseMode::abort());
  EXPECT_EQ(trace, (Trace{"caught"}));
  EXPECT_EQ(promise.get(), -1);
}

/// Posts to a scheduler when destroyed.
class PostsWhenDestroyed {
 public:
  PostsWhenDestroyed(Scheduler scheduler, std::optional<bool>& accepted)
      : scheduler_(std::move(scheduler)), accepted_(&accepted) {}
  PostsWhenDestroyed(PostsWhenDestroyed&& other) noexcept
      : scheduler_(other.scheduler_), accepted_(std::exchange(other.accepted_, nullptr)) {}
  PostsWhenDestroyed& operator=(PostsWhenDestroyed&&) = delete;
  ~PostsWhenDestroyed() {
    if (accepted_ != nullptr) *accepted_ = scheduler_.post([] {});
  }

 private:
  Scheduler scheduler_;
  std::optional<bool>* accepted_;
};

TEST_F(Lif1Abort, close_when_a_dropped_callback_posts_from_its_destructor_then_refused) {
  std::optional<bool> accepted;
  scheduler.post([posts = PostsWhenDestroyed(scheduler, accepted)] {});
  EXPECT_EQ(loop.close(CloseMode::abort()), (CloseReport{.aborted = 1}));
  EXPECT_EQ(accepted, false);
}

TEST_F(Lif1Abort, loop_when_destroyed_then_closed_with_abort) {
  const auto probe = std::make_shared<int>();
  auto other = std::make_unique<EventLoop>(test::on_virtual_clock());
  const auto promise = other->scheduler().post_task([this, probe] { note("ran")(); });
  other.reset();
  EXPECT_EQ(trace, Trace{});
  EXPECT_EQ(probe.use_count(), 1);
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

TEST_F(Lif1Abort, close_when_called_from_a_task_then_not_allowed_and_nothing_is_closed) {
  run_task([this] { EXPECT_THROW(loop.close(CloseMode::abort()), NotAllowedError); });
  EXPECT_TRUE(scheduler.post([] {}));
}

class Lif1Closed : public LoopTest {
 protected:
  Lif1Closed() { loop.close(CloseMode::drain()); }
};

TEST_F(Lif1Closed,
       WPT_DET_03_WPT_MT_13_post_task_when_the_loop_is_closed_then_rejects_with_invalid_state) {
  const auto probe = std::make_shared<int>();
  const TaskController controller;
  for (const PostTaskOptions& options :
       {PostTaskOptions{}, PostTaskOptions{.delay = 1h},
        PostTaskOptions{.signal = controller.signal()},
        PostTaskOptions{.signal = controller.signal(), .delay = 1h}}) {
    const auto promise = scheduler.post_task([probe] {}, options);
    EXPECT_TRUE(test::is<InvalidStateError>(promise.reason()));
    EXPECT_EQ(probe.use_count(), 1);
  }
}

TEST_F(Lif1Closed,
       WPT_DET_03_WPT_MT_13_post_when_the_loop_is_closed_then_false_and_the_callback_is_destroyed) {
  const auto probe = std::make_shared<int>();
  const TaskController controller;
  EXPECT_FALSE(scheduler.post([probe] {}));
  EXPECT_FALSE(scheduler.post([probe] {}, {.delay = 1h}));
  EXPECT_FALSE(scheduler.post([probe] {}, {.signal = controller.signal()}));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1Closed, post_task_when_the_loop_is_closed_then_also_from_other_threads_and_schedulers) {
  EventLoop other;
  const auto second = other.create_scheduler();
  other.close(CloseMode::abort());
  test::on_plain_thread([&] {
    EXPECT_TRUE(test::is<InvalidStateError>(second.post_task([] {}).reason()));
    EXPECT_FALSE(second.post([] {}));
  });
}

// Rule: ABT-2: an aborted signal speaks first.
TEST_F(Lif1Closed, post_task_when_the_signal_is_aborted_too_then_rejects_with_its_reason) {
  AbortController controller;
  controller.abort();
  const auto promise = scheduler.post_task([] {}, {.signal = controller.signal()});
  EXPECT_EQ(promise.reason(), controller.signal().reason());
}

// Rule: LIF-2
TEST_F(Lif1Closed, abort_when_tasks_of_the_signal_were_refused_then_harmless) {
  TaskController controller;
  const auto promise = scheduler.post_task([] {}, {.signal = controller.signal()});
  controller.set_priority(TaskPriority::background);
  controller.abort();
  EXPECT_TRUE(test::is<InvalidStateError>(promise.reason()));
}

}  // namespace
}  // namespace heist
