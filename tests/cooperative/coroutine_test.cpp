// Cooperative tasks that are coroutines. Rule: COOP-8.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <stdexcept>

#include "support/cooperative_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class CooperativeCoroutine : public CooperativeFixture {
 protected:
  Promise<void> works(int units) {
    for (int unit = 0; unit < units; ++unit) {
      trace.add("unit " + std::to_string(unit));
      busy(3ms);
      co_await slice();
    }
    trace.add("end");
  }
};

TEST_F(CooperativeCoroutine, coroutine_when_its_slice_is_over_then_goes_on_in_the_next_one) {
  scheduler.schedule_callback(normal, [this] { return works(3); });
  post("other");
  EXPECT_THAT(run(), ElementsAre("unit 0", "unit 1", "other", "unit 2", "end"));
}

TEST_F(CooperativeCoroutine, slice_when_time_is_left_then_goes_on_at_once) {
  scheduler.schedule_callback(normal, [this]() -> Promise<void> {
    const Slice slice_now = co_await slice();
    EXPECT_FALSE(slice_now.did_timeout);
    EXPECT_EQ(slice_now.deadline, scheduler.now() + 5ms);
    trace.add("on");
  });
  schedule(normal, "next");
  EXPECT_THAT(run(), ElementsAre("on", "next"));
}

TEST_F(CooperativeCoroutine, late_task_when_its_slice_is_over_then_goes_on_at_once) {
  scheduler.schedule_callback(immediate, [this] { return works(3); });
  post("other");
  EXPECT_THAT(run(), ElementsAre("unit 0", "unit 1", "unit 2", "end", "other"));
}

TEST_F(CooperativeCoroutine, captures_when_the_coroutine_goes_on_then_still_there) {
  scheduler.schedule_callback(
      normal, [this, probe = callbacks.probe(), text = std::string(100, 'x')]() -> Promise<void> {
        busy(5ms);
        co_await slice();
        trace.add(std::to_string(text.size()));
      });
  EXPECT_THAT(run(), ElementsAre("100"));
}

TEST_F(CooperativeCoroutine, called_coroutines_when_they_await_slice_then_the_caller_may_again) {
  scheduler.schedule_callback(normal, [this]() -> Promise<void> {
    const auto worked = works(2);
    co_await worked;
    busy(5ms);
    co_await slice();
    trace.add("caller");
  });
  EXPECT_THAT(run(), ElementsAre("unit 0", "unit 1", "end", "caller"));
}

TEST_F(CooperativeCoroutine, coroutine_when_cancelled_then_destroyed_and_its_promise_aborted) {
  std::optional<Promise<void>> inner;
  const auto task = scheduler.schedule_callback(normal, [&]() -> Promise<void> {
    inner = works(3);
    co_await *inner;
  });
  loop.scheduler().post([&] { scheduler.cancel_callback(task); });
  EXPECT_THAT(run(), ElementsAre("unit 0", "unit 1"));
  EXPECT_THROW(inner->get(), AbortError);
}

TEST_F(CooperativeCoroutine, exception_when_nobody_has_the_promise_then_reported) {
  scheduler.schedule_callback(normal, []() -> Promise<void> {
    co_await slice();
    throw std::runtime_error("not this way");
  });
  schedule(normal, "next");
  EXPECT_THAT(run(), ElementsAre("next"));
  EXPECT_THAT(errors.take(),
              ElementsAre(RecordedError{ErrorOrigin::unobserved_rejection, "not this way"}));
}

TEST_F(CooperativeCoroutine, slice_when_another_task_has_resumed_the_coroutine_then_refused) {
  auto awaited = Promise<int>::with_resolver();
  std::optional<Promise<void>> waits;
  const auto wait = [&]() -> Promise<void> {
    co_await awaited.promise;
    trace.add("resumed");
    co_await slice();
  };
  scheduler.schedule_callback(normal, [&] { waits = wait(); });
  scheduler.schedule_callback(normal, [&]() -> CooperativeCallback {
    awaited.resolver.resolve(1);
    busy(6ms);
    return note("rest");
  });
  EXPECT_THAT(run(), ElementsAre("resumed", "rest"));
  EXPECT_THROW(waits->get(), NotAllowedError);
}

TEST_F(CooperativeCoroutine,
       slice_when_a_task_of_another_loop_has_resumed_the_coroutine_then_refused) {
  EventLoop there({.clock = LoopClock::virtual_time});
  auto awaited = Promise<int>::with_resolver();
  std::optional<Promise<void>> waits;
  const auto wait = [&]() -> Promise<void> {
    co_await resume_on(there.scheduler());
    co_await awaited.promise;
    trace.add("resumed");
    co_await slice();
  };
  scheduler.schedule_callback(normal, [&] { waits = wait(); });
  run();
  there.run_until_idle();
  CooperativeScheduler(there.scheduler()).schedule_callback(normal, [&] {
    awaited.resolver.resolve(1);
    there.spend(6ms);
  });
  there.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("resumed"));
  ASSERT_TRUE(waits->settled());
  EXPECT_THROW(waits->get(), NotAllowedError);
}

TEST_F(CooperativeCoroutine, slice_when_outside_of_a_cooperative_task_then_refused) {
  const auto outside = [this]() -> Promise<void> {
    busy(5ms);
    co_await slice();
  };
  EXPECT_THROW(outside().get(), NotAllowedError);
  auto in_a_task = loop.scheduler().post_task(outside);
  run();
  EXPECT_THROW(std::move(in_a_task).get(), NotAllowedError);
}

TEST_F(CooperativeCoroutine, slice_when_in_another_loop_that_the_task_drives_then_refused) {
  scheduler.schedule_callback(normal, [this] {
    busy(5ms);
    EventLoop inner;
    auto in_a_task = inner.scheduler().post_task([]() -> Promise<void> { co_await slice(); });
    inner.run_until_idle();
    ASSERT_TRUE(in_a_task.settled());
    EXPECT_THROW(std::move(in_a_task).get(), NotAllowedError);
  });
  run();
}

TEST_F(CooperativeCoroutine, second_coroutine_when_one_waits_for_the_next_slice_then_refused) {
  std::optional<Promise<void>> second;
  scheduler.schedule_callback(normal, [&]() -> Promise<void> {
    busy(5ms);
    const auto first = works(1);
    second = works(1);
    co_await first;
  });
  EXPECT_THAT(run(), ElementsAre("unit 0", "unit 0", "end"));
  EXPECT_THROW(second->get(), NotAllowedError);
}

TEST_F(CooperativeCoroutine, coroutine_when_the_callback_returns_another_rest_then_destroyed) {
  std::optional<Promise<void>> left;
  scheduler.schedule_callback(normal, [&]() -> CooperativeCallback {
    busy(5ms);
    left = works(1);
    return note("rest");
  });
  EXPECT_THAT(run(), ElementsAre("unit 0", "rest"));
  EXPECT_THROW(left->get(), AbortError);
}

}  // namespace
}  // namespace heist::support
