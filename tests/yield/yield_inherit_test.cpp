// Rule: YLD-2, YLD-3, ABT-1. What a yield has of its task, behind waits of every kind: the
// priority, and the abort.
#include <coroutine>
#include <functional>
#include <heist/heist.hpp>
#include <optional>

#include "support/threads.hpp"
#include "yield/yield_fixture.hpp"

namespace heist::support {

/// What is done behind a wait.
using Body = std::function<Promise<void>()>;

/// An awaitable that is no promise: it goes on in a microtask.
struct Thenable {
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const {
    queue_microtask([coroutine] { coroutine.resume(); });
  }
  void await_resume() const {}
};

/// An awaitable that does the body while it is awaited, and declines to suspend.
struct ThenableThatCalls {
  explicit ThenableThatCalls(Body what) : body(std::move(what)) {}
  [[nodiscard]] bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> /*coroutine*/) {
    result = body();
    return false;
  }
  void await_resume() const {}

  Body body;
  Promise<void> result = Promise<void>::resolved();
};

namespace {

using testing::ElementsAre;

template <class Awaitable>
Promise<void> after(Awaitable awaitable, Body body) {
  co_await awaitable;
  const auto rest = body();
  co_await rest;
}

Promise<void> within_a_thenable(Body body) {
  ThenableThatCalls thenable(std::move(body));
  co_await thenable;
  co_await thenable.result;
}

/// A way from the start of a task to its yield.
struct Wait {
  const char* name;
  Promise<void> (*then_do)(const Body&);
};

constexpr Wait every_wait[] = {
    {"none", [](const Body& body) { return body(); }},
    {"a_pending_promise",
     [](const Body& body) {
       auto pending = Promise<void>::with_resolver();
       Scheduler::current()->post(
           [resolver = std::move(pending.resolver)]() mutable { resolver.resolve(); });
       return after(pending.promise, body);
     }},
    {"a_settled_promise", [](const Body& body) { return after(Promise<void>::resolved(), body); }},
    {"a_plain_value", [](const Body& body) { return after(std::suspend_never(), body); }},
    {"then_of_a_settled_promise",
     [](const Body& body) { return Promise<void>::resolved().then(body); }},
    {"then_of_a_chain",
     [](const Body& body) { return Promise<void>::resolved().then([] {}).then([] {}).then(body); }},
    {"a_thenable", [](const Body& body) { return after(Thenable(), body); }},
    {"within_a_thenable", [](const Body& body) { return within_a_thenable(body); }},
    {"a_thenable_that_declines",
     [](const Body& body) {
       return after(ThenableThatCalls([] { return Promise<void>::resolved(); }), body);
     }},
    {"a_promise_that_follows_another",
     [](const Body& body) {
       return after(Promise<void>::resolved().then([] { return Promise<void>::resolved(); }), body);
     }},
};

class YieldInherit : public YieldFixture {
 protected:
  /// Notes how the yield ends.
  Promise<void> follow(Promise<void> turn) {
    try {
      co_await turn;
      trace.add("went on");
    } catch (const AbortError&) {
      trace.add("AbortError");
      throw;
    }
  }
  Promise<void> abort_then_yield() {
    controller.abort();
    const Promise<void> turn = heist::yield();
    EXPECT_EQ(turn.status(), PromiseStatus::rejected);
    return follow(turn);
  }
  Promise<void> yield_then_abort() {
    const Promise<void> turn = heist::yield();
    controller.abort();
    return follow(turn);
  }

  /// A wait for a timer, an answer from another thread, and one more timer.
  Promise<void> far(Body body) {
    const auto first = timer();
    co_await first;
    auto fetched = Promise<void>::with_resolver();
    answer_ = std::move(fetched.resolver);
    co_await fetched.promise;
    const auto second = timer();
    co_await second;
    const auto rest = body();
    co_await rest;
  }
  /// Runs the loop until such a wait is over.
  std::vector<std::string> run_far() {
    loop.run_until_idle();
    loop.advance(1ms);
    on_thread([this] { answer_->resolve(); });
    loop.run_until_idle();
    loop.advance(1ms);
    return run();
  }

  TaskController controller;

 private:
  static Promise<void> timer() {
    auto over = Promise<void>::with_resolver();
    static_cast<void>(set_timeout(
        [resolver = std::move(over.resolver)]() mutable { resolver.resolve(); }, Delay(1ms)));
    return over.promise;
  }

  std::optional<Resolver<void>> answer_;
};

/// The parameter is what the task waits for before it yields.
class YieldBehind : public YieldInherit, public testing::WithParamInterface<Wait> {};
INSTANTIATE_TEST_SUITE_P(Waits, YieldBehind, testing::ValuesIn(every_wait),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(YieldBehind, WPT_Y_S1_to_S9_yield_when_behind_a_wait_then_still_background) {
  const auto task = [this] { return GetParam().then_do([this] { return compete(); }); };
  static_cast<void>(scheduler.post_task(task, {.priority = background}));
  EXPECT_EQ(run(), order_with(background));
}

TEST_P(YieldBehind, WPT_Y_A5_to_A12_yield_when_behind_a_wait_then_still_aborted) {
  const auto task = [this] { return GetParam().then_do([this] { return yield_then_abort(); }); };
  auto result = scheduler.post_task(task, {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre("AbortError"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(YieldInherit, WPT_Y_I1_to_I4_yield_when_behind_timers_then_still_of_its_priority) {
  const auto task = [this] { return far([this] { return compete(); }); };
  for (const auto priority : {user_blocking, background}) {
    static_cast<void>(scheduler.post_task(task, {.priority = priority}));
    EXPECT_EQ(run_far(), order_with(priority));
    const TaskController of_signal(priority);
    static_cast<void>(scheduler.post_task(task, {.signal = of_signal.signal()}));
    EXPECT_EQ(run_far(), order_with(priority));
  }
}

TEST_F(YieldInherit, WPT_Y_A4_WPT_Y_I5_yield_when_behind_timers_and_threads_then_still_aborted) {
  const auto task = [this] { return far([this] { return yield_then_abort(); }); };
  auto result = scheduler.post_task(task, {.signal = controller.signal()});
  EXPECT_THAT(run_far(), ElementsAre("AbortError"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(YieldInherit, WPT_Y_A1_yield_when_its_signal_is_aborted_then_it_and_the_task_reject) {
  auto result =
      scheduler.post_task([this] { return abort_then_yield(); }, {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre("AbortError"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

// The controller of the signal is of either kind.
TEST_F(YieldInherit, WPT_Y_A2_WPT_Y_A3_yield_when_a_task_aborts_it_then_rejects_without_its_turn) {
  AbortController plain;
  controller.set_priority(background);
  const auto expect_rejected = [this](AbortController& by, const PostTaskOptions& options) {
    const auto task = [this, &by] {
      scheduler.post([&by] { by.abort(); }, {.priority = user_blocking});
      post("visible");
      return follow(heist::yield());
    };
    auto result = scheduler.post_task(task, options);
    EXPECT_THAT(run(), ElementsAre("AbortError", "visible"));
    EXPECT_THROW(std::move(result).get(), AbortError);
  };
  expect_rejected(controller, {.signal = controller.signal()});
  expect_rejected(plain, {.signal = plain.signal(), .priority = background});
}

// The older reaction is outside of any task.
TEST_F(YieldInherit, WPT_Y_I6_WPT_Y_I7_yield_when_in_a_reaction_or_microtask_then_each_of_its_own) {
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

TEST_F(YieldInherit, WPT_Y_I8_yields_when_one_task_resolves_for_another_then_each_at_its_level) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  const auto waits_then_yields = [this, resolved = promise] {
    trace.add("p1-start");
    return after(resolved, [this] { return yielder("p1-", 1); });
  };
  static_cast<void>(scheduler.post_task(waits_then_yields, {.priority = background}));
  loop.run_until_idle();
  const auto resolves_then_yields = [&, this] {
    resolver.resolve();
    return yielder("p2-", 1);
  };
  static_cast<void>(scheduler.post_task(resolves_then_yields, {.priority = user_blocking}));
  post("p3");
  EXPECT_THAT(run(), ElementsAre("p1-start", "p2-0", "p1-0", "p2-1", "p3", "p1-1"));
}

/// Functions that yield through one scheduler while a task of another one calls them.
class YieldOfTwoSchedulers : public YieldFixture {
 protected:
  Promise<void> compete_through_other() {
    post_one_of_each_level();
    co_await other.yield();
    trace.add("continuation");
  }

  Scheduler other = loop.create_scheduler();
};

TEST_F(YieldOfTwoSchedulers, WPT_Y_X1_WPT_Y_X3_yield_when_through_another_one_then_inherits) {
  const auto function_of_other = [this] { return compete_through_other(); };
  const auto awaits_it = [&] { return after(Promise<void>::resolved(), function_of_other); };
  for (const auto priority : {background, user_blocking}) {
    const PostTaskOptions options{.priority = priority};
    static_cast<void>(scheduler.post_task(function_of_other, options));
    EXPECT_EQ(run(), order_with(priority));
    static_cast<void>(other.post_task(function_of_other, options));
    EXPECT_EQ(run(), order_with(priority));
    static_cast<void>(scheduler.post_task(awaits_it, options));
    EXPECT_EQ(run(), order_with(priority));
  }
}

}  // namespace
}  // namespace heist::support
