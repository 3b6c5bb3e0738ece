// Rule: YLD-1, YLD-3, YLD-5, LIF-1. How a coroutine goes on after yield(), and how it does not.
#include <heist/agent.hpp>
#include <memory>
#include <optional>
#include <thread>

#include "yield/yield_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Yielding : public YieldFixture {
 protected:
  /// Adds `label` after each of `turns` yields.
  Promise<void> yielder(std::string label, int turns, YieldOptions options = {}) {
    const auto alive = callbacks.probe();
    for (int turn = 1; turn <= turns; ++turn) {
      co_await heist::yield(options);
      trace.add(label + std::to_string(turn));
    }
  }
};

TEST_F(Yielding, yield_when_aborted_while_pending_then_rejects_in_a_microtask) {
  TaskController controller(background);
  auto result =
      scheduler.post_task([this] { return yielder("y", 1); }, {.signal = controller.signal()});
  loop.poll();
  in_task([&] {
    controller.abort("enough");
    queue_microtask([&] { trace.add(result.settled() ? "settled" : "pending"); });
  });
  post("after", {.priority = user_blocking});
  EXPECT_THAT(run(), ElementsAre("pending", "after"));
  ASSERT_EQ(result.status(), PromiseStatus::rejected);
  EXPECT_EQ(*result.reason().value<std::string>(), "enough");
}

TEST_F(Yielding, yield_when_used_as_a_promise_then_scheduled_at_the_call) {
  in_task([this] {
    const Promise<void> turn = heist::yield();
    post("later");
    static_cast<void>(turn.then([this] { trace.add("turn"); }));
  });
  EXPECT_THAT(run(), ElementsAre("turn", "later"));
}

TEST_F(Yielding, yield_when_it_resumes_then_with_the_state_of_its_await) {
  TaskController controller(background);
  const auto coroutine = [this](TaskSignal) -> Promise<void> {
    co_await heist::yield(ContinuationPriority::user_blocking);
    co_await heist::yield();
    trace.add("inherits background");
  };
  static_cast<void>(scheduler.post_task([&] { return coroutine(controller.signal()); },
                                        {.priority = background}));
  post("visible");
  EXPECT_THAT(run(), ElementsAre("visible", "inherits background"));
  in_task([this] { static_cast<void>(yielder("later", 1)); });
  EXPECT_THAT(run(), ElementsAre("later1"));
}

TEST_F(Yielding, close_when_continuation_waits_then_frame_is_destroyed) {
  const TaskController controller;
  Promise<void> plain = Promise<void>::resolved();
  Promise<void> signalled = plain;
  in_task([&] {
    plain = yielder("plain", 1);
    signalled = yielder("signalled", 1, YieldSignal(controller.signal()));
  });
  loop.close(CloseMode::abort());
  EXPECT_THAT(trace.take(), IsEmpty());
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(plain.status(), PromiseStatus::rejected);
  EXPECT_EQ(signalled.status(), PromiseStatus::rejected);
}

TEST_F(Yielding, yield_when_loop_is_closed_then_invalid_state) {
  EventLoop other;
  const Scheduler closed = other.scheduler();
  other.close(CloseMode::abort());
  const auto coroutine = [this](Scheduler to) -> Promise<void> {
    co_await to.yield();
    trace.add("went on");
  };
  auto off_loop = coroutine(closed);
  auto in_loop = Promise<void>::resolved();
  in_task([&] { in_loop = coroutine(closed); });
  loop.run_until_idle();
  EXPECT_THROW(std::move(off_loop).get(), InvalidStateError);
  EXPECT_THROW(std::move(in_loop).get(), InvalidStateError);
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(Yielding, WPT_Y_P9_yield_when_off_any_loop_then_goes_on_there_as_user_visible) {
  const auto coroutine = [this]() -> Promise<void> {
    co_await scheduler.yield();
    trace.add(current_loop() == &loop.core() ? "there" : "elsewhere");
    co_await heist::yield();
    trace.add("again");
  };
  for (const auto origin : {Origin::driver, Origin::other_thread}) {
    post_one_of_each_level();
    auto result = Promise<void>::resolved();
    from(origin, [&] { result = coroutine(); });
    EXPECT_THAT(run(), ElementsAre("blocking", "there", "again", "visible", "background"));
    EXPECT_TRUE(result.settled());
  }
  EXPECT_THROW(static_cast<void>(Promise<void>(heist::yield())), NotAllowedError);
}

TEST_F(Yielding, yield_when_to_another_loop_then_comes_back) {
  EventLoop other{{.clock = LoopClock::virtual_time}};
  const auto coroutine = [](Scheduler there) -> Promise<LoopCore*> {
    co_await there.yield();
    co_return current_loop();
  };
  auto result = Promise<LoopCore*>::resolved(nullptr);
  in_task([&] { result = coroutine(other.scheduler()); });
  loop.run_until_idle();
  EXPECT_FALSE(result.settled());
  EXPECT_EQ(other.run_until_idle(), 1U);
  loop.run_until_idle();
  EXPECT_EQ(result.get(), &loop.core());
}

TEST_F(Yielding, yield_when_a_signal_goes_with_the_state_then_its_end_may_queue_microtasks) {
  const auto queues = [this] { queue_microtask(note("queued")); };
  auto controller = std::make_optional<AbortController>();
  const auto coroutine = [&]() -> Promise<void> {
    controller->abort(std::make_shared<AtDestruction<decltype(queues)>>(queues));
    controller.reset();
    co_await heist::yield(ContinuationPriority::user_visible);
    trace.add("went on");
  };
  scheduler.post([&] { static_cast<void>(coroutine()); }, {.signal = controller->signal()});
  EXPECT_THAT(run(), ElementsAre("went on", "queued"));
}

TEST_F(Yielding, yield_elsewhere_when_its_own_loop_closes_then_goes_on_or_is_destroyed_there) {
  Agent agent;
  for (int round = 0; round < 200; ++round) {
    EventLoop closing;
    auto begins = Promise<void>::with_resolver();
    const auto coroutine = [&]() -> Promise<void> {
      const auto alive = callbacks.probe();
      co_await begins.promise;
      co_await agent.scheduler().yield();
    };
    auto result = Promise<void>::resolved();
    closing.scheduler().post([&] { result = coroutine(); });
    closing.run_until_idle();
    // Resolved by the close: the yield takes place in its last checkpoint.
    const auto resolve = [&] { begins.resolver.resolve(); };
    closing.scheduler().post([at_end = AtDestruction(resolve)] {});
    closing.close(CloseMode::abort());
    EXPECT_TRUE(result.wait_for(std::chrono::minutes(1)));
  }
}

TEST_F(Yielding, yield_when_priority_is_no_priority_then_refused) {
  const auto coroutine = []() -> Promise<void> {
    co_await heist::yield(static_cast<ContinuationPriority>(9));
  };
  auto result = Promise<void>::resolved();
  in_task([&] { result = coroutine(); });
  EXPECT_THROW(std::move(result).get(), std::invalid_argument);
}

}  // namespace
}  // namespace heist::support
