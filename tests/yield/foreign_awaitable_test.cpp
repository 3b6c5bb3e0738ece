// Rule: YLD-3. The state of a coroutine survives awaitables of other libraries, and does not leak
// into whoever resumes it.
#include <gmock/gmock.h>

#include <coroutine>
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

/// Suspends until somebody calls resume().
class Event {
 public:
  auto operator co_await() noexcept {
    struct Awaiter {
      Event& event;
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> coroutine) const noexcept {
        event.waiting_ = coroutine;
      }
      [[nodiscard]] int await_resume() const noexcept { return 7; }
    };
    return Awaiter{*this};
  }
  void resume() { std::exchange(waiting_, {}).resume(); }

 private:
  std::coroutine_handle<> waiting_;
};

class ForeignAwaitable : public VirtualLoopFixture {
 protected:
  /// A background coroutine that awaits the event, then yields `turns` times.
  Promise<void> waits(int turns) {
    const int value = co_await event;
    trace.add("resumed with " + std::to_string(value));
    for (int turn = 0; turn < turns; ++turn) {
      co_await heist::yield();
      trace.add("turn");
    }
  }
  Event event;
};

TEST_F(ForeignAwaitable, state_when_resumed_by_another_task_then_that_of_the_await) {
  static_cast<void>(scheduler.post_task([this] { return waits(1); }, {.priority = background}));
  scheduler.post([this] { event.resume(); }, {.priority = background});
  scheduler.post(note("visible"));
  static_cast<void>(run());
  static_cast<void>(scheduler.post_task([this] { return waits(1); }, {.priority = background}));
  static_cast<void>(run());
  scheduler.post(
      [this] {
        event.resume();
        post("visible");
      },
      {.priority = user_blocking});
  EXPECT_THAT(run(), ElementsAre("resumed with 7", "visible", "turn"));
}

TEST_F(ForeignAwaitable,
       state_of_the_resumer_when_the_coroutine_suspends_or_ends_then_its_own_again) {
  for (const int turns : {0, 1}) {
    static_cast<void>(scheduler.post_task([&] { return waits(turns); }, {.priority = background}));
    static_cast<void>(run());
    const auto resumer = [this]() -> Promise<void> {
      event.resume();
      co_await heist::yield();
      trace.add("resumer");
    };
    static_cast<void>(scheduler.post_task(resumer, {.priority = user_blocking}));
    scheduler.post([this] { trace.add("blocking"); }, {.priority = user_blocking});
    const auto seen = run();
    ASSERT_GE(seen.size(), 3U);
    EXPECT_EQ(seen[1], "resumer");
    EXPECT_EQ(seen[2], "blocking");
  }
}

TEST_F(ForeignAwaitable, abort_source_when_resumed_outside_of_any_task_then_kept) {
  loop.needs_driver();
  TaskController controller;
  auto result = scheduler.post_task([this] { return waits(1); }, {.signal = controller.signal()});
  static_cast<void>(run());
  scheduler.post([this] { static_cast<void>(set_timeout([this] { event.resume(); })); });
  loop.run_one();
  loop.run_one();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("resumed with 7"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(ForeignAwaitable, state_when_the_task_that_gave_it_is_gone_then_still_valid) {
  auto controller = std::make_optional<TaskController>(background);
  static_cast<void>(
      scheduler.post_task([this] { return waits(2); }, {.signal = controller->signal()}));
  static_cast<void>(run());
  controller.reset();
  scheduler.post([this] { event.resume(); });
  post("visible");
  EXPECT_THAT(run(), ElementsAre("resumed with 7", "visible", "turn", "turn"));
}

TEST_F(ForeignAwaitable, state_when_resumed_on_another_loop_then_none) {
  EventLoop other{{.clock = LoopClock::virtual_time}};
  static_cast<void>(scheduler.post_task([this] { return waits(1); }, {.priority = background}));
  static_cast<void>(run());
  other.scheduler().post(
      [this, &other] {
        event.resume();
        other.scheduler().post(note("visible there"));
      },
      {.priority = background});
  other.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("resumed with 7", "turn", "visible there"));
}

TEST_F(ForeignAwaitable, state_when_started_off_any_loop_then_none_whoever_resumes_it) {
  loop.needs_driver();
  TaskController controller(background);
  const auto result = waits(1);
  scheduler.post(
      [this] {
        event.resume();
        post("visible");
      },
      {.signal = controller.signal()});
  loop.run_one();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("resumed with 7", "turn", "visible"));
  EXPECT_EQ(result.status(), PromiseStatus::fulfilled);
}

TEST_F(ForeignAwaitable, awaiter_when_it_throws_instead_of_suspending_then_the_state_is_kept) {
  struct Throws {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> /*coroutine*/) const {
      throw std::runtime_error("it cannot wait");
    }
    void await_resume() const noexcept {}
  };
  const auto coroutine = [this]() -> Promise<void> {
    co_await event;
    try {
      co_await Throws();
    } catch (const std::runtime_error&) {
      trace.add("refused");
    }
    co_await heist::yield();
    trace.add("turn");
  };
  static_cast<void>(scheduler.post_task(coroutine, {.priority = background}));
  static_cast<void>(run());
  scheduler.post(
      [this] {
        event.resume();
        post("visible");
      },
      {.priority = user_blocking});
  EXPECT_THAT(run(), ElementsAre("refused", "visible", "turn"));
}

}  // namespace
}  // namespace heist::support
