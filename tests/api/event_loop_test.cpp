// EventLoop: who may drive it and how far each call goes. Rule: ORD-1, LIF-1, MT-17.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::Gate;
using test::LoopTest;
using test::Trace;

class EventLoopRuns : public LoopTest {};

TEST_F(EventLoopRuns, run_until_idle_when_tasks_post_tasks_then_runs_them_all_and_counts) {
  scheduler.post([this] {
    trace.emplace_back("1");
    scheduler.post(note("2"));
  });
  EXPECT_EQ(loop.run_until_idle(), 2U);
  EXPECT_EQ(trace, (Trace{"1", "2"}));
  EXPECT_EQ(loop.run_until_idle(), 0U);
}

TEST_F(EventLoopRuns, poll_when_nothing_is_runnable_then_zero) { EXPECT_EQ(loop.poll(), 0U); }

TEST_F(EventLoopRuns,
       poll_when_a_task_posts_for_ever_then_returns_after_those_present_at_the_start) {
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    scheduler.post([&again] { again(); });
  };
  scheduler.post([&again] { again(); });
  scheduler.post([&again] { again(); });
  EXPECT_EQ(loop.poll(), 2U);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(loop.pending(), 2U);
}

TEST_F(EventLoopRuns, run_one_when_several_are_queued_then_runs_one) {
  scheduler.post(note("1"));
  scheduler.post(note("2"));
  EXPECT_TRUE(loop.run_one());
  EXPECT_EQ(trace, (Trace{"1"}));
}

TEST_F(EventLoopRuns, run_one_when_nothing_is_queued_then_waits_for_a_post) {
  std::thread poster([this] { scheduler.post(note("posted")); });
  EXPECT_TRUE(loop.run_one());
  poster.join();
  EXPECT_EQ(trace, (Trace{"posted"}));
}

TEST_F(EventLoopRuns, run_when_another_thread_stops_it_then_returns) {
  std::thread stopper([this] { loop.stop(); });
  loop.run();
  stopper.join();
}

TEST_F(EventLoopRuns, run_when_a_task_stops_it_then_returns_after_that_task) {
  scheduler.post([this] {
    trace.emplace_back("stopping");
    loop.stop();
  });
  scheduler.post(note("next"));
  loop.run();
  EXPECT_EQ(trace, (Trace{"stopping"}));
  EXPECT_EQ(loop.run_until_idle(), 1U);
}

TEST_F(EventLoopRuns, stop_when_taken_within_a_task_then_nothing_is_cleared_away_after_it) {
  AbortController controller;
  bool is_destroyed = false;
  const auto at_end = [&](void*) { is_destroyed = true; };
  scheduler.post([held = std::shared_ptr<void>(nullptr, at_end)] {},
                 {.signal = controller.signal(), .priority = TaskPriority::background});
  scheduler.post([&] {
    loop.stop();
    controller.abort();
    scheduler.post([] {});  // takes what was sent to the loop before
  });
  loop.run();
  EXPECT_FALSE(is_destroyed);
  loop.run_until_idle();
  EXPECT_TRUE(is_destroyed);
}

TEST_F(EventLoopRuns, stop_when_called_before_run_then_run_returns_at_once) {
  scheduler.post(note("task"));
  loop.stop();
  loop.run();
  EXPECT_EQ(trace, Trace{});
}

TEST_F(EventLoopRuns, stop_when_called_before_run_one_then_it_returns_false) {
  loop.stop();
  EXPECT_FALSE(loop.run_one());
}

TEST_F(EventLoopRuns, stop_when_a_run_has_returned_for_it_then_the_next_run_goes_on) {
  loop.stop();
  loop.stop();
  loop.run();
  scheduler.post([this] {
    trace.emplace_back("ran");
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(trace, (Trace{"ran"}));
}

// The loop takes the first stop when the task posts, so that the second one is sent as well.
TEST_F(EventLoopRuns, stop_when_called_twice_in_one_run_then_ends_that_run_only) {
  scheduler.post([this] {
    loop.stop();
    scheduler.post([] {});
    loop.stop();
  });
  loop.run();
  scheduler.post([this] {
    trace.emplace_back("ran");
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(trace, (Trace{"ran"}));
}

TEST_F(EventLoopRuns, stop_when_called_often_by_many_threads_then_each_run_returns) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> stoppers;
    for (int i = 0; i < 3; ++i) stoppers.emplace_back([this] { loop.stop(); });
    loop.run();
    for (auto& stopper : stoppers) stopper.join();
  }
}

TEST_F(EventLoopRuns, run_when_the_loop_is_closed_then_returns_at_once) {
  loop.close(CloseMode::drain());
  loop.run();
  EXPECT_FALSE(loop.run_one());
  EXPECT_EQ(loop.poll(), 0U);
  EXPECT_EQ(loop.run_until_idle(), 0U);
}

TEST(EventLoopSteady, run_when_only_a_delayed_task_is_left_then_sleeps_until_it_is_due) {
  EventLoop loop;
  const auto start = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration ran_after{};
  loop.scheduler().post(
      [&] {
        ran_after = std::chrono::steady_clock::now() - start;
        loop.stop();
      },
      {.delay = 5ms});
  loop.run();
  EXPECT_GE(ran_after, 5ms);
}

TEST(EventLoopSteady, now_when_on_the_steady_clock_then_never_goes_back) {
  const EventLoop loop;
  const auto first = loop.now();
  EXPECT_GE(first, 0ns);
  EXPECT_GE(loop.now(), first);
}

class EventLoopDriving : public LoopTest {};

TEST_F(EventLoopDriving, run_when_another_thread_drives_it_then_not_allowed) {
  Gate inside;
  Gate leave;
  std::thread driver([&] {
    scheduler.post([&] {
      inside.open();
      leave.wait();
    });
    loop.run_until_idle();
  });
  inside.wait();
  EXPECT_THROW(loop.run(), NotAllowedError);
  EXPECT_THROW(loop.run_one(), NotAllowedError);
  EXPECT_THROW(loop.poll(), NotAllowedError);
  EXPECT_THROW(loop.run_until_idle(), NotAllowedError);
  EXPECT_THROW(loop.advance(1ms), NotAllowedError);
  EXPECT_THROW(static_cast<void>(loop.pending()), NotAllowedError);
  EXPECT_THROW(static_cast<void>(loop.wakeup_fd()), NotAllowedError);
  EXPECT_THROW(loop.close(CloseMode::abort()), NotAllowedError);
  leave.open();
  driver.join();
}

TEST_F(EventLoopDriving, run_when_called_from_a_task_of_the_loop_then_not_allowed) {
  int refused = 0;
  run_task([&] {
    refused += test::throws<NotAllowedError>([&] { loop.run(); }) ? 1 : 0;
    refused += test::throws<NotAllowedError>([&] { loop.run_until_idle(); }) ? 1 : 0;
    refused += test::throws<NotAllowedError>([&] { loop.advance(1ms); }) ? 1 : 0;
    refused += test::throws<NotAllowedError>([&] { loop.close(CloseMode::drain()); }) ? 1 : 0;
  });
  EXPECT_EQ(refused, 4);
  run_task(note("the loop goes on"));
  EXPECT_EQ(trace, (Trace{"the loop goes on"}));
}

TEST_F(EventLoopDriving, run_when_several_threads_take_turns_then_each_may_drive) {
  std::vector<std::thread::id> ran_on;
  for (int turn = 0; turn < 3; ++turn) {
    scheduler.post([&ran_on] { ran_on.push_back(std::this_thread::get_id()); });
    test::on_plain_thread([this] { EXPECT_EQ(loop.run_until_idle(), 1U); });
  }
  scheduler.post([&ran_on] { ran_on.push_back(std::this_thread::get_id()); });
  loop.run_until_idle();
  ASSERT_EQ(ran_on.size(), 4U);
  EXPECT_EQ(ran_on.back(), std::this_thread::get_id());
}

TEST_F(EventLoopDriving, run_when_in_a_task_of_another_loop_then_nests) {
  EventLoop inner(test::on_virtual_clock());
  inner.scheduler().post(note("inner"));
  run_task([&] {
    inner.run_until_idle();
    trace.emplace_back("outer");
  });
  EXPECT_EQ(trace, (Trace{"inner", "outer"}));
}

// Rule: LIF-2
TEST_F(EventLoopDriving, loop_when_made_and_destroyed_in_a_task_of_another_then_harmless) {
  auto promise = Promise<void>::resolved();
  run_task([&] {
    EventLoop inner;
    promise = inner.scheduler().post_task([] {});
  });
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
  run_task(note("the outer loop goes on"));
  EXPECT_EQ(trace, (Trace{"the outer loop goes on"}));
}

class EventLoopSchedulers : public LoopTest {};

// Rule: ORD-1 (one order per loop)
TEST_F(EventLoopSchedulers, create_scheduler_when_several_then_they_share_one_order) {
  const auto second = loop.create_scheduler();
  scheduler.post(note("1"));
  second.post(note("2"));
  scheduler.post(note("3"));
  second.post(note("urgent"), {.priority = TaskPriority::user_blocking});
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"urgent", "1", "2", "3"}));
}

TEST_F(EventLoopSchedulers, scheduler_when_compared_then_equal_only_to_its_copies) {
  const auto second = loop.create_scheduler();
  const EventLoop other;
  EXPECT_EQ(scheduler, loop.scheduler());
  EXPECT_NE(scheduler, second);
  EXPECT_NE(scheduler, other.scheduler());
}

/// A callback that owns the options with which it is posted.
struct JobWithOptions {
  PostTaskOptions options;
  Trace* ran;
  void operator()() const { ran->emplace_back("ran"); }
};

TEST_F(EventLoopSchedulers, post_when_the_callback_owns_the_options_then_they_count) {
  TaskController controller;
  const JobWithOptions job{{.signal = controller.signal(), .delay = 1ms}, &trace};
  std::array jobs{job, job, job, job};
  const auto by_reference = scheduler.post_task(std::move(jobs[0]), jobs[0].options);
  const auto by_move = scheduler.post_task(std::move(jobs[1]), std::move(jobs[1].options));
  EXPECT_TRUE(scheduler.post(std::move(jobs[2]), jobs[2].options));
  EXPECT_TRUE(scheduler.post(std::move(jobs[3]), std::move(jobs[3].options)));
  controller.abort();
  loop.advance(1ms);
  EXPECT_EQ(trace, Trace());
  EXPECT_EQ(by_reference.status(), PromiseStatus::rejected);
  EXPECT_EQ(by_move.status(), PromiseStatus::rejected);
}

/// A callback that owns the scheduler through which it is posted.
struct JobWithScheduler {
  Scheduler through;
  PostTaskOptions options;
  Trace* ran;
  void operator()() const { ran->emplace_back("ran"); }
};

TEST_F(EventLoopSchedulers, post_when_the_callback_owns_the_scheduler_then_it_runs) {
  const JobWithScheduler job{scheduler, {.priority = TaskPriority::background}, &trace};
  std::array jobs{job, job, job};
  EXPECT_TRUE(jobs[0].through.post(std::move(jobs[0])));
  EXPECT_TRUE(jobs[1].through.post(std::move(jobs[1]), jobs[1].options));
  const auto promise = jobs[2].through.post_task(std::move(jobs[2]));
  // A wait on the promise's own loop would never end.
  scheduler.post([&] { EXPECT_THROW(promise.get(), std::logic_error); },
                 {.priority = TaskPriority::user_blocking});
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"ran", "ran", "ran"}));
}

TEST_F(EventLoopSchedulers, pending_when_tasks_are_queued_and_delayed_then_counts_both) {
  EXPECT_EQ(loop.pending(), 0U);
  scheduler.post([] {});
  scheduler.post([] {}, {.delay = 5ms});
  test::on_plain_thread([this] { scheduler.post([] {}); });
  EXPECT_EQ(loop.pending(), 3U);
  loop.run_until_idle();
  EXPECT_EQ(loop.pending(), 1U);
  loop.advance(5ms);
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(EventLoopSchedulers, stats_when_tasks_have_run_then_counted) {
  for (int i = 0; i < 3; ++i) scheduler.post([] {});
  loop.run_until_idle();
  EXPECT_EQ(loop.stats().tasks_run, 3U);
  EXPECT_EQ(loop.stats().sleeps, 0U);
}

struct BadOption {
  const char* name;
  EventLoopOptions options;
};

class EventLoopBadOptions : public testing::TestWithParam<BadOption> {};

TEST_P(EventLoopBadOptions, constructor_when_an_option_makes_no_sense_then_invalid_argument) {
  EXPECT_THROW(EventLoop{GetParam().options}, std::invalid_argument);
}

TEST_P(EventLoopBadOptions, agent_when_an_option_makes_no_sense_then_invalid_argument) {
  AgentOptions options;
  options.loop = GetParam().options;
  EXPECT_THROW(Agent{options}, std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(All, EventLoopBadOptions,
                         testing::Values(BadOption{"zero_tick", {.tick = 0ns}},
                                         BadOption{"negative_tick", {.tick = -1ms}},
                                         BadOption{"tick_beyond_an_hour", {.tick = 1h + 1ns}},
                                         BadOption{"negative_spin", {.spin = -1ns}},
                                         BadOption{"spin_beyond_an_hour", {.spin = 1h + 1ns}}),
                         [](const auto& test) { return std::string(test.param.name); });

class EventLoopAdvance : public LoopTest {};

TEST_F(EventLoopAdvance,
       WPT_MT_17_advance_when_delays_expire_on_the_way_then_each_runs_at_its_time) {
  std::vector<std::chrono::nanoseconds> times;
  for (const auto delay : {7ms, 2ms, 20ms}) {
    scheduler.post([&] { times.push_back(loop.now()); }, {.delay = delay});
  }
  loop.advance(10ms);
  EXPECT_EQ(times, (std::vector<std::chrono::nanoseconds>{2ms, 7ms}));
  EXPECT_EQ(loop.now(), 10ms);
}

TEST_F(EventLoopAdvance,
       WPT_MT_17_advance_when_a_task_posts_a_delay_that_ends_on_the_way_then_it_runs_too) {
  scheduler.post([this] { scheduler.post(note("second"), {.delay = 3ms}); }, {.delay = 3ms});
  loop.advance(5ms);
  EXPECT_EQ(trace, Trace{});
  loop.advance(1ms);
  EXPECT_EQ(trace, (Trace{"second"}));
}

TEST_F(EventLoopAdvance, advance_when_an_expiry_posts_tasks_then_they_run_before_the_next_expiry) {
  scheduler.post([this] { scheduler.post(note("posted at 1")); }, {.delay = 1ms});
  scheduler.post(note("at 2"), {.delay = 2ms});
  loop.advance(5ms);
  EXPECT_EQ(trace, (Trace{"posted at 1", "at 2"}));
}

TEST_F(EventLoopAdvance, advance_when_zero_then_runs_what_is_runnable) {
  scheduler.post(note("task"));
  loop.advance(0ns);
  EXPECT_EQ(trace, (Trace{"task"}));
  EXPECT_EQ(loop.now(), 0ns);
}

TEST_F(EventLoopAdvance, advance_when_negative_then_time_does_not_go_back) {
  loop.advance(5ms);
  try {
    loop.advance(-3ms);
  } catch (const std::invalid_argument&) {
    // as good as doing nothing
  }
  EXPECT_EQ(loop.now(), 5ms);
}

TEST_F(EventLoopAdvance, advance_when_beyond_the_clocks_range_then_stops_at_its_end) {
  const auto never = scheduler.post_task(note("never"), {.delay = Delay::never()});
  scheduler.post(note("far"), {.delay = std::chrono::years(100)});
  loop.advance(1ms);
  loop.advance(std::chrono::nanoseconds::max());
  EXPECT_EQ(trace, (Trace{"far"}));
  EXPECT_FALSE(never.settled());
}

TEST_F(EventLoopAdvance, advance_when_on_the_steady_clock_then_not_allowed) {
  EventLoop steady;
  EXPECT_THROW(steady.advance(1ms), NotAllowedError);
}

TEST_F(EventLoopAdvance, WPT_MT_17_virtual_clock_when_not_advanced_then_delays_do_not_expire) {
  scheduler.post(note("delayed"), {.delay = 1ns});
  loop.run_until_idle();
  EXPECT_EQ(trace, Trace{});
  EXPECT_EQ(loop.now(), 0ns);
}

/// A random program: tasks that post tasks, with priorities, delays, signals, aborts and reactions.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {}

  Trace run() {
    for (int i = 0; i < 50; ++i) post();
    loop_.advance(1s);
    return trace_;
  }

 private:
  int roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }

  void post() {
    if (posted_ == 500) return;
    const auto name = std::to_string(++posted_);
    PostTaskOptions options{.delay = roll(3) == 0 ? roll(20) * 1ms : 0ms};
    TaskController& controller = controllers_[static_cast<std::size_t>(roll(4))];
    if (roll(2) == 0) options.signal = controller.signal();
    if (roll(2) == 0) options.priority = random_priority();
    static_cast<void>(
        scheduler_.post_task([this, name] { act(name); }, options)
            .then(
                scheduler_, [this, name] { trace_.push_back("then " + name); },
                [this, name](const Reason&) { trace_.push_back("rejected " + name); }));
  }
  void act(const std::string& name) {
    trace_.push_back("run " + name);
    for (int i = roll(3); i > 0; --i) post();
    TaskController& controller = controllers_[static_cast<std::size_t>(roll(4))];
    if (roll(8) == 0) controller.set_priority(random_priority());
    if (roll(50) == 0) controller.abort();
  }
  TaskPriority random_priority() { return static_cast<TaskPriority>(roll(3)); }

  std::mt19937 random_;
  int posted_ = 0;
  Trace trace_;
  std::array<TaskController, 4> controllers_;
  EventLoop loop_{test::on_virtual_clock()};
  Scheduler scheduler_ = loop_.scheduler();
};

// On one thread and a virtual clock everything is deterministic.
TEST(EventLoopDeterminism, WPT_MT_17_program_when_run_again_then_the_same_trace) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Trace first = RandomProgram(seed).run();
    EXPECT_GE(first.size(), 100U);
    EXPECT_EQ(RandomProgram(seed).run(), first) << "seed " << seed;
  }
}

}  // namespace
}  // namespace heist
