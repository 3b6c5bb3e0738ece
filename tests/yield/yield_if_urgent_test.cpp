// Rule: YLD-7. A long task lets more urgent ones go first, and otherwise goes on at once.
#include <coroutine>
#include <functional>
#include <heist/yield_if_urgent.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "support/threads.hpp"
#include "yield/yield_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class UrgentWaiting : public YieldFixture {
 protected:
  /// Does something within the running task, or meanwhile on another thread.
  static void here(const std::function<void()>& work) { work(); }
  static void elsewhere(const std::function<void()>& work) { on_thread(work); }
  static constexpr auto places = {&here, &elsewhere};

  /// Runs a user-visible task in which `arrives` is called. Returns whether something more urgent
  /// waits then.
  bool waits_after(const std::function<void()>& arrives, const PostTaskOptions& options = {}) {
    bool waits = false;
    scheduler.post(
        [&] {
          EXPECT_FALSE(urgent_waiting());
          arrives();
          waits = urgent_waiting();
        },
        options);
    static_cast<void>(run());
    return waits;
  }
};

TEST_F(UrgentWaiting, urgent_waiting_when_no_loop_runs_here_then_false) {
  post("blocking", {.priority = user_blocking});
  EXPECT_FALSE(urgent_waiting());
  run();
}

TEST_F(UrgentWaiting, urgent_waiting_when_a_task_was_posted_then_true_if_that_is_above) {
  for (const auto from : places) {
    const auto waits = [&](TaskPriority priority, const PostTaskOptions& running) {
      return waits_after([&] { from([&] { post("", {.priority = priority}); }); }, running);
    };
    EXPECT_TRUE(waits(user_blocking, {}));
    EXPECT_FALSE(waits(user_visible, {}));
    EXPECT_FALSE(waits(background, {}));
    EXPECT_TRUE(waits(user_visible, {.priority = background}));
    EXPECT_FALSE(waits(user_blocking, {.priority = user_blocking}));
  }
}

TEST_F(UrgentWaiting, urgent_waiting_when_the_running_signal_is_lowered_then_what_waits_is_above) {
  for (const auto from : places) {
    TaskController controller;
    const auto lowers = [&] {
      post("");
      EXPECT_FALSE(urgent_waiting());
      from([&] { controller.set_priority(background); });
    };
    EXPECT_TRUE(waits_after(lowers, {.signal = controller.signal()}));
  }
}

TEST_F(UrgentWaiting, urgent_waiting_when_a_followed_signal_is_lowered_then_what_waits_is_above) {
  TaskController followed;
  const TaskSignal signal = TaskSignal::any({AbortController().signal()}, followed.signal());
  const auto lowers = [&] {
    post("");
    EXPECT_FALSE(urgent_waiting());
    elsewhere([&] { followed.set_priority(background); });
  };
  EXPECT_TRUE(waits_after(lowers, {.signal = signal}));
}

TEST_F(UrgentWaiting, urgent_waiting_when_another_signal_is_raised_then_true) {
  for (const auto from : places) {
    TaskController controller(background);
    post("", {.signal = controller.signal()});
    const auto raises = [&] { controller.set_priority(user_blocking); };
    EXPECT_TRUE(waits_after([&] { from(raises); }));
  }
}

TEST_F(UrgentWaiting, urgent_waiting_when_a_delay_ends_then_true_if_its_task_is_above) {
  for (const auto& [priority, expected] : {std::pair(user_blocking, true), {background, false}}) {
    post("", {.priority = priority, .delay = 1ms});
    EXPECT_EQ(waits_after([&] { loop.spend(1ms); }), expected);
  }
}

TEST_F(UrgentWaiting, urgent_waiting_when_a_delay_is_set_meanwhile_then_its_end_counts) {
  for (const auto from : places) {
    const auto sets = [&] {
      from([&] { post("", {.priority = user_blocking, .delay = 1ms}); });
      EXPECT_FALSE(urgent_waiting());
      loop.spend(1ms);
    };
    EXPECT_TRUE(waits_after(sets));
  }
}

TEST_F(UrgentWaiting, urgent_waiting_when_a_time_limit_is_set_meanwhile_then_its_end_counts) {
  for (const auto from : places) {
    std::optional<AbortSignal> limit;
    const auto sets = [&] {
      from([&] { limit.emplace(AbortSignal::timeout(scheduler, 1ms)); });
      EXPECT_FALSE(urgent_waiting());
      loop.spend(1ms);
    };
    EXPECT_TRUE(waits_after(sets));
    EXPECT_TRUE(limit->aborted());
  }
}

TEST_F(UrgentWaiting,
       urgent_waiting_when_a_reaction_of_a_lower_task_runs_then_it_is_asked_for_that) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  bool waits = false;
  const auto reacts = [&, promise = promise]() -> Promise<void> {
    co_await promise;
    waits = urgent_waiting();
  };
  const auto lower = scheduler.post_task(reacts, {.priority = background});
  run();
  post("visible");
  const auto resolves = [&, resolver = &resolver] {
    EXPECT_FALSE(urgent_waiting());
    resolver->resolve();
  };
  scheduler.post(resolves, {.priority = user_blocking});
  run();
  EXPECT_TRUE(waits);
}

/// Suspends a coroutine until the test resumes it.
struct Handle {
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) noexcept { suspended = coroutine; }
  static void await_resume() noexcept {}

  std::coroutine_handle<> suspended;
};

TEST_F(UrgentWaiting, urgent_waiting_when_a_coroutine_of_a_lower_task_is_resumed_then_for_that) {
  Handle handle;
  bool waits = false;
  const auto is_resumed = [&]() -> Promise<void> {
    co_await handle;
    waits = urgent_waiting();
  };
  const auto lower = scheduler.post_task(is_resumed, {.priority = background});
  run();
  post("visible");
  const auto resumes = [&] {
    EXPECT_FALSE(urgent_waiting());
    handle.suspended.resume();
    EXPECT_FALSE(urgent_waiting());
  };
  scheduler.post(resumes, {.priority = user_blocking});
  run();
  EXPECT_TRUE(waits);
}

TEST_F(UrgentWaiting, urgent_waiting_when_another_loop_runs_within_a_task_then_each_has_its_own) {
  const auto drives = [this] {
    EventLoop inner({.clock = LoopClock::virtual_time});
    inner.scheduler().post([&] {
      EXPECT_FALSE(urgent_waiting());
      post("", {.priority = user_blocking});
      EXPECT_FALSE(urgent_waiting());
      inner.scheduler().post([] {}, {.priority = user_blocking});
      EXPECT_TRUE(urgent_waiting());
    });
    inner.run_until_idle();
  };
  EXPECT_TRUE(waits_after(drives));
}

TEST_F(UrgentWaiting, urgent_waiting_when_a_callback_with_a_signal_has_ended_then_it_may_be_asked) {
  const auto asks = std::shared_ptr<void>(nullptr, [](void*) { EXPECT_FALSE(urgent_waiting()); });
  TaskController controller;
  auto result = scheduler.post_task(
      [asks] {
        EXPECT_FALSE(urgent_waiting());
        return asks;
      },
      {.signal = controller.signal()});
  run();
}

TEST_F(UrgentWaiting, urgent_waiting_when_a_time_limit_ends_then_true) {
  const AbortSignal limit = AbortSignal::timeout(scheduler, 1ms);
  bool told = false;
  const auto listener = limit.on_abort([&] { told = true; });
  EXPECT_TRUE(waits_after([&] { loop.spend(1ms); }));
  EXPECT_TRUE(told);
}

TEST_F(UrgentWaiting, urgent_waiting_when_it_takes_what_was_posted_then_all_of_it_keeps_its_order) {
  in_task([this] {
    on_thread([this] {
      post("a");
      post("b");
    });
    EXPECT_FALSE(urgent_waiting());
    post("c");
  });
  EXPECT_THAT(run(), ElementsAre("a", "b", "c"));
}

class YieldIfUrgentRule : public YieldFixture {
 protected:
  Promise<void> polls(std::string label, int times) {
    for (int time = 0; time < times; ++time) {
      trace.add(label + std::to_string(time));
      co_await yield_if_urgent();
    }
  }
  void start(std::string label, int times, const PostTaskOptions& options = {}) {
    static_cast<void>(scheduler.post_task(
        [this, label = std::move(label), times] { return polls(label, times); }, options));
  }
};

TEST_F(YieldIfUrgentRule, yield_if_urgent_when_nothing_more_urgent_waits_then_goes_on_at_once) {
  start("a", 3);
  start("b", 2);
  post("background", {.priority = background});
  EXPECT_THAT(run(), ElementsAre("a0", "a1", "a2", "b0", "b1", "background"));
  EXPECT_EQ(loop.stats().tasks_run, 3U);
}

TEST_F(YieldIfUrgentRule, yield_if_urgent_when_more_urgent_tasks_wait_then_they_go_first) {
  const auto interrupted = [this]() -> Promise<void> {
    post("visible");
    post("blocking1", {.priority = user_blocking});
    post("blocking2", {.priority = user_blocking});
    const auto rest = polls("a", 2);
    co_await rest;
  };
  static_cast<void>(scheduler.post_task(interrupted));
  EXPECT_THAT(run(), ElementsAre("a0", "blocking1", "blocking2", "a1", "visible"));
}

TEST_F(YieldIfUrgentRule, yield_if_urgent_when_the_signal_is_aborted_then_its_reason_is_thrown) {
  AbortController controller;
  const auto aborted = [&]() -> Promise<void> {
    co_await yield_if_urgent();
    controller.abort();
    trace.add("aborted");
    co_await yield_if_urgent();
    trace.add("not reached");
  };
  const auto result = scheduler.post_task(aborted, {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre("aborted"));
  EXPECT_THROW(result.get(), AbortError);
}

TEST_F(YieldIfUrgentRule, yield_if_urgent_when_another_thread_aborts_then_the_reason_is_thrown) {
  AbortController controller;
  const auto aborted = [&]() -> Promise<void> {
    co_await yield_if_urgent();
    on_thread([&] { controller.abort(); });
    co_await yield_if_urgent();
    trace.add("not reached");
  };
  const auto result = scheduler.post_task(aborted, {.signal = controller.signal()});
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THROW(result.get(), AbortError);
}

TEST_F(YieldIfUrgentRule, yield_if_urgent_when_aborted_while_more_urgent_tasks_run_then_thrown) {
  AbortController controller;
  const auto waits = [&]() -> Promise<void> {
    scheduler.post([&] { controller.abort(); }, {.priority = user_blocking});
    co_await yield_if_urgent();
    trace.add("not reached");
  };
  const auto result = scheduler.post_task(waits, {.signal = controller.signal()});
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THROW(result.get(), AbortError);
}

TEST_F(YieldIfUrgentRule, yield_if_urgent_when_no_loop_runs_here_then_goes_on) {
  const auto off_agent = []() -> Promise<int> {
    co_await yield_if_urgent();
    co_return 1;
  };
  EXPECT_EQ(off_agent().get(), 1);
}

}  // namespace
}  // namespace heist::support
