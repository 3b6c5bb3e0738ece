// Abort of a task whose callback, or the microtask checkpoint after it, is running; and later.
#include <atomic>
#include <heist/agent.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;
using testing::IsEmpty;

class Abt6 : public VirtualLoopFixture {
 protected:
  /// Posts a task with the controller's signal; it may look at its own promise.
  template <class Callback>
  auto post_with_signal(Callback callback) {
    return scheduler.post_task(tracked(std::move(callback)), {.signal = controller.signal()});
  }

  TaskController controller;
};

// Rule: ABT-6
TEST_F(Abt6,
       WPT_ABT_07_abort_when_within_the_callback_then_rejects_although_the_callback_returned) {
  const auto promise = post_with_signal([&] {
    controller.abort();
    return 1;
  });
  loop.run_until_idle();
  EXPECT_THROW(static_cast<void>(promise.get()), AbortError);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_within_the_callback_then_rejects_at_once_and_the_callback_can_see_it) {
  std::optional<Promise<void>> promise;
  bool ran = false;
  promise = post_with_signal([&] {
    EXPECT_FALSE(controller.signal().aborted());
    controller.abort(3);
    EXPECT_TRUE(controller.signal().aborted());
    EXPECT_TRUE(promise->settled());
    ran = true;
  });
  loop.run_until_idle();
  EXPECT_TRUE(ran);
  EXPECT_EQ(promise->reason(), controller.signal().reason());
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_within_the_callback_then_the_late_value_is_destroyed) {
  const LiveCount values;
  const auto promise = post_with_signal([&] {
    controller.abort();
    return values.probe();
  });
  loop.run_until_idle();
  EXPECT_EQ(values.alive(), 0);
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_the_callback_throws_afterwards_then_the_reason_stays) {
  const auto promise = post_with_signal([&] {
    controller.abort();
    throw std::range_error("late");
  });
  loop.run_until_idle();
  EXPECT_THROW(promise.get(), AbortError);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_in_a_microtask_after_the_callback_then_still_rejects) {
  const LiveCount values;
  std::optional<Promise<LiveCount::Probe>> promise;
  promise = post_with_signal([&] {
    queue_microtask([&] {
      EXPECT_FALSE(promise->settled());
      controller.abort();
      EXPECT_TRUE(promise->settled());
    });
    return values.probe();
  });
  loop.run_until_idle();
  EXPECT_EQ(promise->reason(), controller.signal().reason());
  EXPECT_EQ(values.alive(), 0);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_in_a_microtask_of_a_microtask_then_still_rejects) {
  const auto promise = post_with_signal([&] {
    queue_microtask([&] { queue_microtask([&] { controller.abort(); }); });
    return 1;
  });
  loop.run_until_idle();
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_the_callback_and_its_checkpoint_are_over_then_the_value_stays) {
  const auto promise = post_with_signal([] { return 1; });
  post("next");
  EXPECT_TRUE(loop.run_one());
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("next"));
  EXPECT_EQ(promise.get(), 1);
}

// Rule: ABT-6
TEST_F(Abt6, WPT_ABT_08_abort_when_the_callback_has_returned_a_promise_then_that_one_fulfils) {
  auto inner = Promise<int>::with_resolver();
  const Promise<int> outer = post_with_signal([promise = inner.promise] { return promise; });
  loop.run_until_idle();
  controller.abort();
  loop.run_until_idle();
  EXPECT_FALSE(outer.settled());
  inner.resolver.resolve(4);
  loop.run_until_idle();
  EXPECT_EQ(outer.get(), 4);
}

// Rule: ABT-6
TEST_F(Abt6, WPT_ABT_08_abort_when_the_callback_has_returned_a_promise_then_that_one_rejects) {
  auto inner = Promise<int>::with_resolver();
  const Promise<int> outer = post_with_signal([promise = inner.promise] { return promise; });
  loop.run_until_idle();
  controller.abort();
  inner.resolver.reject(Reason(std::range_error("its own")));
  loop.run_until_idle();
  EXPECT_THROW(static_cast<void>(outer.get()), std::range_error);
}

// Rule: ABT-6
TEST_F(Abt6, WPT_ABT_08_abort_when_a_coroutine_waits_then_its_own_end_decides) {
  auto timer = Promise<void>::with_resolver();
  auto coroutine = [this, expiry = timer.promise]() -> Promise<int> {
    co_await expiry;
    trace.add(controller.signal().aborted() ? "aborted" : "not aborted");
    co_return 5;
  };
  const Promise<int> promise = post_with_signal(coroutine);
  loop.run_until_idle();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre());
  timer.resolver.resolve();
  EXPECT_THAT(run(), ElementsAre("aborted"));
  EXPECT_EQ(promise.get(), 5);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_within_a_callback_that_then_returns_a_promise_then_rejects_at_once) {
  auto inner = Promise<int>::with_resolver();
  const Promise<int> outer = post_with_signal([this, promise = inner.promise] {
    controller.abort();
    return promise;
  });
  loop.run_until_idle();
  EXPECT_EQ(outer.reason(), controller.signal().reason());
  inner.resolver.resolve(4);
  loop.run_until_idle();
  EXPECT_EQ(outer.status(), PromiseStatus::rejected);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_in_the_checkpoint_after_a_promise_was_returned_then_rejects_at_once) {
  auto inner = Promise<int>::with_resolver();
  const Promise<int> outer = post_with_signal([this, promise = inner.promise] {
    queue_microtask([this] { controller.abort(); });
    return promise;
  });
  loop.run_until_idle();
  EXPECT_EQ(outer.reason(), controller.signal().reason());
  inner.resolver.resolve(4);
  loop.run_until_idle();
  EXPECT_EQ(outer.status(), PromiseStatus::rejected);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_the_promise_returned_late_is_settled_then_the_reason_stays) {
  const Promise<int> outer = post_with_signal([this] {
    controller.abort(1);
    return Promise<int>::resolved(4);
  });
  loop.run_until_idle();
  EXPECT_EQ(outer.reason(), controller.signal().reason());
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_a_task_without_a_promise_runs_then_it_finishes_and_is_destroyed) {
  scheduler.post(tracked([&] {
                   controller.abort();
                   trace.add("went on");
                 }),
                 {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre("went on"));
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_a_task_without_a_promise_throws_afterwards_then_nobody_hears_of_it) {
  int ran = 0;
  for (const bool follows : {false, true}) {
    AbortController own;
    const AbortSignal signal = follows ? AbortSignal::any({own.signal()}) : own.signal();
    const auto callback = [&] {
      ++ran;
      own.abort();
      throw std::range_error("late");
    };
    scheduler.post(tracked(callback), {.signal = signal});
    loop.run_until_idle();
  }
  EXPECT_EQ(ran, 2);
  EXPECT_THAT(errors.take(), IsEmpty());
}

// Rule: LIF-3
TEST_F(Abt6, abort_when_a_task_without_a_promise_has_thrown_before_then_the_hook_hears_of_it) {
  scheduler.post(tracked([&] {
                   queue_microtask([this] { controller.abort(); });
                   throw std::range_error("early");
                 }),
                 {.signal = controller.signal()});
  loop.run_until_idle();
  EXPECT_TRUE(controller.signal().aborted());
  EXPECT_THAT(errors.take(), ElementsAre(RecordedError{ErrorOrigin::task, "early"}));
}

// Rule: ABT-6
TEST_F(Abt6, abort_when_one_task_runs_and_others_wait_then_each_is_rejected_with_the_reason) {
  const auto running = post_with_signal([&] { controller.abort(9); });
  const auto waiting = post_task("never", {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(running.reason(), controller.signal().reason());
  EXPECT_EQ(waiting.reason(), controller.signal().reason());
}

// Rule: ABT-6
TEST_F(Abt6,
       WPT_MT_04_abort_when_another_thread_calls_it_during_the_callback_then_rejects_at_once) {
  const LiveCount values;
  std::optional<Promise<LiveCount::Probe>> promise;
  promise = post_with_signal([&] {
    on_thread([&] {
      controller.abort(1);
      EXPECT_TRUE(promise->settled());
    });
    EXPECT_TRUE(controller.signal().aborted());
    return values.probe();
  });
  loop.run_until_idle();
  EXPECT_EQ(promise->reason(), controller.signal().reason());
  EXPECT_EQ(values.alive(), 0);
}

// Rule: ABT-6
TEST_F(Abt6,
       WPT_MT_04_get_when_an_agents_task_is_aborted_while_it_runs_then_does_not_wait_for_its_end) {
  Gate started;
  Gate may_end;
  Agent agent;
  const auto promise = agent.scheduler().post_task(tracked([&] {
                                                     started.open();
                                                     may_end.wait();
                                                     return 1;
                                                   }),
                                                   {.signal = controller.signal()});
  started.wait();
  controller.abort();
  EXPECT_THROW(static_cast<void>(promise.get()), AbortError);
  may_end.open();
  EXPECT_EQ(agent.close(CloseMode::drain()).aborted, 0U);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
