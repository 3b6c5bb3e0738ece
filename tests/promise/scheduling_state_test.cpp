// Rule: YLD-3, YLD-5. Captured where a continuation is created, restored while it runs, cleared
// between tasks.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <heist/heist.hpp>
#include <optional>
#include <utility>

#include "api/probes.hpp"
#include "heist/loop/loop_core.hpp"
#include "heist/signal/signal_core.hpp"
#include "promise/current_state.hpp"

namespace HEIST_NAMESPACE::detail {

// For messages of failed expectations.
static bool operator==(const SchedulingState& a, const SchedulingState& b) {
  return a.scheduler == b.scheduler && a.abort_source == b.abort_source &&
         a.priority_source == b.priority_source && a.priority == b.priority;
}

namespace {

using namespace std::chrono_literals;
using test::LoopTest;
using test::Trace;

class Yld3 : public LoopTest {
 protected:
  /// Reads the current state into `seen`.
  [[nodiscard]] auto look() {
    return [this](const auto&...) { seen = support::current_state(); };
  }
  /// The state of a task without a signal.
  [[nodiscard]] SchedulingState fixed(TaskPriority priority) const {
    return {.scheduler = Access::core(scheduler), .priority = priority};
  }
  /// The state of a task that follows this signal.
  [[nodiscard]] SchedulingState dynamic(const TaskSignal& signal) const {
    return {.scheduler = Access::core(scheduler),
            .abort_source = &Access::core(signal),
            .priority_source = &Access::core(signal)};
  }

  static constexpr PostTaskOptions background{.priority = TaskPriority::background};
  static constexpr PostTaskOptions urgent{.priority = TaskPriority::user_blocking};

  std::optional<SchedulingState> seen;
};

TEST_F(Yld3, WPT_SP_11_state_when_task_has_options_then_they_are_its_state) {
  const TaskController controller(TaskPriority::background);
  const auto signal = controller.signal();
  scheduler.post(look());
  loop.run_until_idle();
  EXPECT_EQ(seen, fixed(TaskPriority::user_visible));
  scheduler.post(look(), urgent);
  loop.run_until_idle();
  EXPECT_EQ(seen, fixed(TaskPriority::user_blocking));
  scheduler.post(look(), {.signal = signal});
  loop.run_until_idle();
  EXPECT_EQ(seen, dynamic(signal));
  static_cast<void>(
      scheduler.post_task(look(), {.signal = signal, .priority = TaskPriority::user_blocking}));
  loop.run_until_idle();
  auto expected = fixed(TaskPriority::user_blocking);
  expected.abort_source = &Access::core(signal);
  EXPECT_EQ(seen, expected);
}

// Rule: YLD-3
TEST_F(Yld3, WPT_Y_I7_microtask_when_queued_in_a_task_or_its_microtask_then_has_the_tasks_state) {
  const TaskController controller;
  const std::function<void()> ways_to_queue[] = {
      [this] { queue_microtask(look()); },
      [this] { queue_microtask([this] { queue_microtask(look()); }); }};
  for (const auto& queue : ways_to_queue) {
    static_cast<void>(scheduler.post_task(queue, {.signal = controller.signal()}));
    loop.run_until_idle();
    EXPECT_EQ(seen, dynamic(controller.signal()));
    seen.reset();
  }
}

// Rule: YLD-3 (captured where it is created, not where the promise is settled)
TEST_F(Yld3, WPT_MT_11_then_when_another_task_or_thread_settles_then_has_its_own_state) {
  for (const bool on_a_thread : {false, true}) {
    seen.reset();
    auto [promise, resolver] = Promise<int>::with_resolver();
    scheduler.post([&, promise] { static_cast<void>(promise.then(look())); }, background);
    loop.run_until_idle();
    const auto settle = [&r = resolver] { r.resolve(1); };
    if (on_a_thread) {
      test::on_plain_thread(settle);
    } else {
      scheduler.post(settle, urgent);
    }
    loop.run_until_idle();
    EXPECT_EQ(seen, fixed(TaskPriority::background));
  }
}

// Rule: YLD-3 (settled promises)
TEST_F(Yld3, then_when_the_promise_is_settled_already_then_has_the_state_of_its_registration) {
  const auto settled = Promise<int>::resolved(1);
  scheduler.post([&] { static_cast<void>(settled.then([](int) { return 2; }).then(look())); },
                 background);
  loop.run_until_idle();
  EXPECT_EQ(seen, fixed(TaskPriority::background));
}

TEST_F(
    Yld3,
    WPT_Y_I6_then_when_registered_outside_any_task_then_keeps_its_state_though_an_urgent_task_settles) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  static_cast<void>(promise.then(std::as_const(scheduler), look()));
  scheduler.post([&] { resolver.resolve(1); }, urgent);
  loop.run_until_idle();
  EXPECT_EQ(seen, fixed(TaskPriority::user_visible));
}

// An older reaction that runs in the same checkpoint keeps its own state, and leaves nothing of it.
TEST_F(Yld3, WPT_Y_I7_WPT_SP_11_checkpoint_when_of_several_tasks_then_each_part_has_its_own_state) {
  const TaskController controller(TaskPriority::background);
  auto [promise, resolver] = Promise<int>::with_resolver();
  std::optional<SchedulingState> of_reaction;
  scheduler.post(
      [&, promise] {
        static_cast<void>(promise.then([&](int) { of_reaction = support::current_state(); }));
      },
      {.signal = controller.signal()});
  loop.run_until_idle();
  scheduler.post(
      [&] {
        resolver.resolve(1);
        queue_microtask(look());
      },
      urgent);
  loop.run_until_idle();
  EXPECT_EQ(of_reaction, dynamic(controller.signal()));
  EXPECT_EQ(seen, fixed(TaskPriority::user_blocking));
}

Promise<void> look_after(Promise<int> source, std::function<void()> look) {
  static_cast<void>(co_await source);
  look();
}

// Rule: YLD-3
TEST_F(Yld3, WPT_MT_11_await_when_settled_pending_or_settled_elsewhere_then_the_state_survives) {
  auto [pending, resolver] = Promise<int>::with_resolver();
  auto [foreign, foreign_resolver] = Promise<int>::with_resolver();
  auto [agents, resolver_of_agent] = Promise<int>::with_resolver();
  const TaskController controller;
  int resumed = 0;
  const auto check = [&] {
    EXPECT_EQ(support::current_state(), dynamic(controller.signal()));
    ++resumed;
  };
  static_cast<void>(scheduler.post_task(
      [&, pending, foreign, agents]() -> Promise<void> {
        const auto after_settled = look_after(Promise<int>::resolved(1), check);
        co_await after_settled;
        check();
        const auto after_pending = look_after(pending, check);
        co_await after_pending;
        const auto after_foreign = look_after(foreign, check);
        co_await after_foreign;
        check();
        const auto after_agents = look_after(agents, check);
        co_await after_agents;
        check();
      },
      {.signal = controller.signal()}));
  loop.run_until_idle();
  scheduler.post([&] { resolver.resolve(1); }, urgent);
  loop.run_until_idle();
  test::on_plain_thread([&r = foreign_resolver] { r.resolve(1); });
  loop.run_until_idle();
  EXPECT_EQ(resumed, 5);
  const Agent agent;
  agent.scheduler().post_task([&r = resolver_of_agent] { r.resolve(1); }, urgent).get();
  loop.run_until_idle();
  EXPECT_EQ(resumed, 7);
}

// Rule: YLD-3: what is captured keeps its signals alive.
TEST_F(Yld3, then_when_every_handle_of_the_signal_is_gone_then_the_captured_state_still_has_it) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  std::optional<bool> aborted;
  {
    const TaskController controller(TaskPriority::background);
    static_cast<void>(scheduler.post_task(
        [&, promise] {
          static_cast<void>(promise.then(
              [&](int) { aborted = support::current_state().abort_source->aborted(); }));
        },
        {.signal = controller.signal()}));
    loop.run_until_idle();
  }
  run_task([&] { resolver.resolve(1); });
  EXPECT_EQ(aborted, false);
}

// Rule: YLD-3
TEST_F(Yld3, WPT_Y_C1_task_when_posted_in_a_task_then_does_not_inherit) {
  const TaskController controller(TaskPriority::background);
  const std::function<void()> ways_to_post[] = {
      [this] { scheduler.post(look()); },
      [this] { static_cast<void>(scheduler.post_task(look())); },
      [this] { scheduler.post(look(), {.delay = 5ms}); }};
  for (const auto& post : ways_to_post) {
    for (const auto& options : {background, PostTaskOptions{.signal = controller.signal()}}) {
      seen.reset();
      scheduler.post(post, options);
      loop.run_until_idle();
      loop.advance(5ms);
      EXPECT_EQ(seen, fixed(TaskPriority::user_visible));
    }
  }
}

// Rule: YLD-3. What yields without a state goes on as user-visible: yield_options_test.cpp.
TEST_F(Yld3, WPT_Y_C1_timeout_when_set_in_a_task_then_without_a_state) {
  scheduler.post([this] { static_cast<void>(set_timeout(look(), 1ms)); }, background);
  loop.run_until_idle();
  loop.advance(1ms);
  EXPECT_EQ(seen, SchedulingState{});
}

// Conformance FORMAT.md 3.5: listeners run with the state of the code that caused the event.
TEST_F(Yld3, listener_when_a_task_aborts_then_has_that_tasks_state) {
  AbortController controller;
  const auto subscription = controller.signal().on_abort(look());
  scheduler.post([&controller] { controller.abort(); }, background);
  loop.run_until_idle();
  EXPECT_EQ(seen, fixed(TaskPriority::background));
}

// WPT:Y-I8 without yield: microtasks of several tasks interleave first in, first out.
TEST_F(Yld3, microtasks_when_of_two_states_then_first_in_first_out) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  scheduler.post([&, promise] { static_cast<void>(promise.then(note("background"))); }, background);
  loop.run_until_idle();
  scheduler.post(
      [&] {
        queue_microtask(note("urgent 1"));
        resolver.resolve();
        queue_microtask(note("urgent 2"));
      },
      urgent);
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"urgent 1", "background", "urgent 2"}));
}

class Yld5 : public LoopTest {
 protected:
  [[nodiscard]] auto look() {
    return [this](const auto&...) { seen = Scheduler::current(); };
  }
  std::optional<Scheduler> seen;
};

// Rule: YLD-5
TEST_F(Yld5, current_when_several_schedulers_share_the_loop_then_names_the_one_posted_to) {
  const auto second = loop.create_scheduler();
  EXPECT_NE(scheduler, second);
  scheduler.post(look());
  loop.run_until_idle();
  EXPECT_EQ(seen, scheduler);
  second.post(look());
  loop.run_until_idle();
  EXPECT_EQ(seen, second);
}

// Rule: YLD-5
TEST_F(Yld5, current_when_in_microtasks_reactions_and_after_awaits_then_still_the_tasks_scheduler) {
  const auto second = loop.create_scheduler();
  int checks = 0;
  const auto check = [&] {
    EXPECT_EQ(Scheduler::current(), second);
    ++checks;
  };
  static_cast<void>(second.post_task([&]() -> Promise<void> {
    queue_microtask(check);
    const auto settled = Promise<void>::resolved();
    co_await settled;
    check();
    const auto hop = scheduler.post_task([] {});  // settled by a task of the other scheduler
    co_await hop;
    check();
    const auto checked = scheduler.post_task([] {}).then(check);
    co_await checked;
  }));
  loop.run_until_idle();
  EXPECT_EQ(checks, 4);
}

// Rule: YLD-5
TEST_F(Yld5, current_when_a_reaction_names_a_scheduler_then_it_is_that_one) {
  const auto second = loop.create_scheduler();
  run_task([&] { static_cast<void>(Promise<int>::resolved(1).then(second, look())); });
  EXPECT_EQ(seen, second);
}

// Rule: YLD-5
TEST_F(Yld5, current_when_no_task_runs_then_nothing) {
  EXPECT_EQ(Scheduler::current(), std::nullopt);
  loop.run_until_idle();
  EXPECT_EQ(Scheduler::current(), std::nullopt);
  test::on_plain_thread([] { EXPECT_EQ(Scheduler::current(), std::nullopt); });
}

// Rule: YLD-5
TEST_F(Yld5,
       current_when_a_nested_loop_runs_then_names_its_scheduler_and_afterwards_the_outer_one) {
  EventLoop inner(test::on_virtual_clock());
  std::optional<Scheduler> in_inner;
  std::optional<Scheduler> after;
  run_task([&] {
    inner.scheduler().post([&] { in_inner = Scheduler::current(); });
    inner.run_until_idle();
    after = Scheduler::current();
  });
  EXPECT_EQ(in_inner, inner.scheduler());
  EXPECT_EQ(after, scheduler);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
