// Rule: YLD-7. What a task has seen by urgent_waiting() does not hold for another one, nor when
// what waits has changed.
#include <exception>
#include <heist/cooperative_scheduler.hpp>
#include <heist/task_scope.hpp>
#include <heist/yield_if_urgent.hpp>
#include <memory>
#include <utility>

#include "support/live_count.hpp"
#include "support/threads.hpp"
#include "yield/yield_fixture.hpp"

namespace heist::support {
namespace {

using testing::IsEmpty;

class HeldLook : public YieldFixture {
 protected:
  static void ask() { EXPECT_FALSE(urgent_waiting()); }
  /// Whether a background task that runs next sees an urgent task that it posts itself.
  bool next_sees_own_post() {
    bool sees = false;
    scheduler.post(
        [&] {
          post("blocking", {.priority = user_blocking});
          sees = urgent_waiting();
        },
        {.priority = background});
    loop.poll();
    return sees;
  }
  /// Makes a signal that the loop knows.
  TaskController make_known_signal() {
    TaskController controller;
    scheduler.post([] {}, {.signal = controller.signal()});
    run();
    return controller;
  }
  /// Drops a signal so that its last reference is the loop's, which goes when the loop looks for
  /// what has come. Something asks then.
  static void drop_asking(TaskController controller) {
    struct Asking {
      std::shared_ptr<void> asks{nullptr, [](void*) { static_cast<void>(urgent_waiting()); }};
    };
    on_thread([&] {
      TaskController last = std::move(controller);
      last.abort(Reason(std::make_exception_ptr(Asking())));
      last.set_priority(background);
    });
  }
};

TEST_F(HeldLook, urgent_waiting_when_a_task_of_an_earlier_poll_has_asked_then_asked_anew) {
  scheduler.post(&ask);
  loop.poll();
  EXPECT_TRUE(next_sees_own_post());
  run();
}

TEST_F(HeldLook, yield_if_urgent_when_a_task_of_an_earlier_poll_has_asked_then_aborts_are_heard) {
  scheduler.post(&ask);
  loop.poll();
  AbortController controller;
  const auto aborted = [&]() -> Promise<void> {
    controller.abort();
    co_await yield_if_urgent();
    trace.add("not reached");
  };
  const auto result = scheduler.post_task(aborted, {.signal = controller.signal()});
  loop.poll();
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THROW(result.get(), AbortError);
}

TEST_F(HeldLook, urgent_waiting_when_a_cooperative_task_was_scheduled_then_asked_anew) {
  CooperativeScheduler cooperative(scheduler);
  const auto schedule = [&] {
    cooperative.schedule_callback(CooperativePriority::normal, [](auto&&...) {});
  };
  bool sees = false;
  scheduler.post([&] {
    schedule();
    ask();
    on_thread([&] { post("blocking", {.priority = user_blocking}); });
    schedule();
    sees = urgent_waiting();
  });
  run();
  EXPECT_TRUE(sees);
}

TEST_F(HeldLook, urgent_waiting_when_the_end_of_an_aborted_task_has_asked_then_asked_anew) {
  AbortController controller;
  scheduler.post([asks = AtDestruction(&ask)] {}, {.signal = controller.signal()});
  controller.abort();
  EXPECT_TRUE(next_sees_own_post());
  run();
}

TEST_F(HeldLook, urgent_waiting_when_the_end_of_a_signal_has_asked_in_a_pick_then_asked_anew) {
  drop_asking(make_known_signal());
  EXPECT_TRUE(next_sees_own_post());
  run();
}

TEST_F(HeldLook, yield_if_urgent_when_the_end_of_a_scope_has_asked_then_asked_anew) {
  AbortController controller;
  const auto aborted = [&]() -> Promise<void> {
    {
      TaskScope scope(scheduler);
      scope.start([asks = AtDestruction(&ask)] {});
    }
    on_thread([&] { controller.abort(); });
    co_await yield_if_urgent();
    trace.add("not reached");
  };
  const auto result = scheduler.post_task(aborted, {.signal = controller.signal()});
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THROW(result.get(), AbortError);
}

}  // namespace
}  // namespace heist::support
