// With which priority a task goes on that yields behind a wait.
#include "wpt/yield_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using testing::ElementsAre;

class YieldInherit : public YieldFixture {
 protected:
  /// A task with these options, which yields behind timers and threads.
  std::vector<std::string> order_behind_far(const PostTaskOptions& options) {
    const auto task = [this] { return far([this] { return compete(); }); };
    static_cast<void>(scheduler.post_task(task, options));
    return run_far();
  }
  /// A background task that yields behind this hop.
  std::vector<std::string> order_behind(Hop hop) {
    const auto task = [this, hop] { return hop([this] { return compete(); }); };
    static_cast<void>(scheduler.post_task(task, {.priority = background}));
    return run();
  }
};

TEST_F(YieldInherit, WPT_Y_I1_yield_when_behind_timers_then_still_user_blocking) {
  EXPECT_THAT(order_behind_far({.priority = user_blocking}), as_user_blocking());
}

TEST_F(YieldInherit, WPT_Y_I2_yield_when_behind_timers_then_still_of_the_user_blocking_signal) {
  EXPECT_THAT(order_behind_far({.signal = TaskController(user_blocking).signal()}),
              as_user_blocking());
}

TEST_F(YieldInherit, WPT_Y_I3_yield_when_behind_timers_then_still_background) {
  EXPECT_THAT(order_behind_far({.priority = background}), as_background());
}

TEST_F(YieldInherit, WPT_Y_I4_yield_when_behind_timers_then_still_of_the_background_signal) {
  EXPECT_THAT(order_behind_far({.signal = TaskController(background).signal()}), as_background());
}

TEST_F(YieldInherit, WPT_Y_I6_yield_when_registered_outside_any_task_then_not_the_settlers) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  const auto reaction = promise.then(scheduler, [this] { return compete(); });
  scheduler.post([&resolver] { resolver.resolve(); }, {.priority = user_blocking});
  EXPECT_THAT(run(), as_user_visible());
}

TEST_F(YieldInherit, WPT_Y_I7_yield_when_in_a_microtask_then_of_the_task_that_queued_it) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  const auto older = promise.then(scheduler, [this] { return yielder("older", 1); });
  const auto task = [this, &resolver] {
    resolver.resolve();
    queue_microtask([this] { static_cast<void>(compete()); });
  };
  scheduler.post(task, {.priority = user_blocking});
  EXPECT_THAT(run(),
              ElementsAre("older0", "continuation", "blocking", "older1", "visible", "background"));
}

class YieldInterleaving : public YieldFixture {
 protected:
  Promise<void> waits_then_yields(Promise<void> resolved) {
    trace.add("p1-start");
    co_await resolved;
    co_await heist::yield();
    trace.add("p1-cont");
  }
  Promise<void> resolves_then_yields(Resolver<void>& resolver) {
    trace.add("p2-start");
    resolver.resolve();
    co_await heist::yield();
    trace.add("p2-cont");
  }
};

TEST_F(YieldInterleaving, WPT_Y_I8_yields_when_one_task_resolves_for_another_then_each_its_level) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  static_cast<void>(
      scheduler.post_task([this, resolved = promise] { return waits_then_yields(resolved); },
                          {.priority = background}));
  loop.run_until_idle();
  static_cast<void>(scheduler.post_task([&, this] { return resolves_then_yields(resolver); },
                                        {.priority = user_blocking}));
  post("p3");
  EXPECT_THAT(run(), ElementsAre("p1-start", "p2-start", "p2-cont", "p3", "p1-cont"));
}

TEST_F(YieldInherit, WPT_Y_S1_yield_when_directly_in_the_task_then_background) {
  EXPECT_THAT(order_behind(directly), as_background());
}

TEST_F(YieldInherit, WPT_Y_S2_yield_when_after_a_pending_promise_then_background) {
  EXPECT_THAT(order_behind(after_a_pending_promise), as_background());
}

TEST_F(YieldInherit, WPT_Y_S3_yield_when_after_a_settled_promise_then_background) {
  EXPECT_THAT(order_behind(after_a_settled_promise), as_background());
}

TEST_F(YieldInherit, WPT_Y_S4_yield_when_after_a_plain_value_then_background) {
  EXPECT_THAT(order_behind(after_a_plain_value), as_background());
}

TEST_F(YieldInherit, WPT_Y_S5_yield_when_in_then_of_a_settled_promise_then_background) {
  EXPECT_THAT(order_behind(in_then_of_a_settled_promise), as_background());
}

TEST_F(YieldInherit, WPT_Y_S6_yield_when_in_a_chain_of_then_then_background) {
  EXPECT_THAT(order_behind(in_then_of_a_chain), as_background());
}

TEST_F(YieldInherit, WPT_Y_S7_yield_when_after_an_awaitable_of_ones_own_then_background) {
  EXPECT_THAT(order_behind(after_a_thenable), as_background());
}

TEST_F(YieldInherit, WPT_Y_S8_yield_when_within_an_awaitable_of_ones_own_then_background) {
  EXPECT_THAT(order_behind(within_a_thenable), as_background());
}

TEST_F(YieldInherit, WPT_Y_S9_yield_when_after_a_promise_that_follows_another_then_background) {
  EXPECT_THAT(order_behind(after_a_promise_that_follows_another), as_background());
}

TEST_F(YieldInherit, WPT_Y_C1_yield_when_in_a_timer_of_a_background_task_then_user_visible) {
  const auto task = [this] {
    static_cast<void>(set_timeout([this] { static_cast<void>(compete()); }, Delay(1ms)));
  };
  scheduler.post(task, {.priority = background});
  loop.run_until_idle();
  loop.advance(1ms);
  EXPECT_THAT(run(), as_user_visible());
}

/// Functions that yield through one scheduler while a task of another one calls them.
class YieldOfTwoSchedulers : public YieldFixture {
 protected:
  Promise<void> compete_through(Scheduler to) {
    post_one_of_each_level();
    co_await to.yield();
    trace.add("continuation");
  }
  Promise<void> awaits_other() {
    const auto rest = compete_through(other);
    co_await rest;
  }

  Scheduler other = loop.create_scheduler();
};

TEST_F(YieldOfTwoSchedulers, WPT_Y_X1_yield_when_through_another_scheduler_then_inherits) {
  static_cast<void>(
      scheduler.post_task([this] { return compete_through(other); }, {.priority = background}));
  EXPECT_THAT(run(), as_background());
}

TEST_F(YieldOfTwoSchedulers,
       WPT_Y_X3_yield_when_its_function_is_of_another_scheduler_then_inherits) {
  const PostTaskOptions blocking{.priority = user_blocking};
  static_cast<void>(scheduler.post_task([this] { return compete_through(other); }, blocking));
  EXPECT_THAT(run(), as_user_blocking());
  static_cast<void>(other.post_task([this] { return compete_through(other); }, blocking));
  EXPECT_THAT(run(), as_user_blocking());
  static_cast<void>(scheduler.post_task([this] { return awaits_other(); }, blocking));
  EXPECT_THAT(run(), as_user_blocking());
}

}  // namespace
}  // namespace heist::support
