// Rule: YLD-3, YLD-4: the scheduling state crosses from one scheduler of a loop to another, and
// never from one loop to another.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "api/probes.hpp"
#include "heist/loop/drive_scope.hpp"
#include "heist/loop/loop_core.hpp"
#include "heist/signal/signal_core.hpp"
#include "promise/current_state.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;

class Yld3Borders : public test::LoopTest {
 protected:
  void TearDown() override {
    other.close(CloseMode::abort());
    LoopTest::TearDown();
  }
  [[nodiscard]] auto look() {
    return [this](const auto&...) { seen = support::current_state(); };
  }
  void expect_seen_is_of(const Scheduler& expected) {
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->scheduler, Access::core(expected));
    EXPECT_EQ(seen->abort_source, &Access::core(signal));
    EXPECT_EQ(seen->priority_source, &Access::core(signal));
  }
  void expect_seen_is_plain(const Scheduler& expected) {
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->scheduler, Access::core(expected));
    EXPECT_EQ(seen->abort_source, nullptr);
    EXPECT_EQ(seen->priority_source, nullptr);
    EXPECT_EQ(seen->priority, TaskPriority::user_visible);
  }

  TaskController controller{TaskPriority::background};
  TaskSignal signal = controller.signal();
  PostTaskOptions with_signal{.signal = signal};
  EventLoop other{test::on_virtual_clock()};
  std::optional<SchedulingState> seen;
};

// Rule: YLD-3
TEST_F(Yld3Borders,
       WPT_Y_X1_state_when_a_coroutine_awaits_another_scheduler_of_its_loop_then_survives) {
  const Scheduler second = loop.create_scheduler();
  static_cast<void>(second.post_task(
      [&]() -> Promise<void> {
        const auto hop = scheduler.post_task([] {}, {.priority = TaskPriority::user_blocking});
        co_await hop;
        look()();
      },
      with_signal));
  loop.run_until_idle();
  expect_seen_is_of(second);
}

// Rule: YLD-3
TEST_F(Yld3Borders,
       WPT_Y_X1_reaction_when_another_schedulers_task_settles_then_has_the_state_of_its_own) {
  const Scheduler second = loop.create_scheduler();
  auto [promise, resolver] = Promise<void>::with_resolver();
  scheduler.post([&, p = promise] { static_cast<void>(p.then(look())); }, with_signal);
  loop.run_until_idle();
  second.post([&r = resolver] { r.resolve(); });
  loop.run_until_idle();
  expect_seen_is_of(scheduler);
}

// Rule: YLD-3
TEST_F(Yld3Borders, WPT_Y_X2_post_when_to_another_loop_then_does_not_inherit) {
  const auto post_there = [&] {
    other.scheduler().post(look(), PostTaskOptions{});
    static_cast<void>(other.scheduler().post_task(look()));
  };
  scheduler.post(post_there, with_signal);
  loop.run_until_idle();
  for (int task = 0; task < 2; ++task) {
    seen.reset();
    EXPECT_TRUE(other.run_one());
    expect_seen_is_plain(other.scheduler());
  }
}

// Rule: YLD-3, YLD-4
TEST_F(Yld3Borders, WPT_Y_X2_reaction_when_a_task_of_another_loop_settles_then_none_of_its_state) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  other.scheduler().post([&, p = promise] { static_cast<void>(p.then(look())); });
  other.run_until_idle();
  scheduler.post([&r = resolver] { r.resolve(); }, with_signal);
  loop.run_until_idle();
  EXPECT_FALSE(seen.has_value());
  other.run_until_idle();
  expect_seen_is_plain(other.scheduler());
}

// Rule: YLD-3
TEST_F(Yld3Borders, WPT_Y_X2_state_when_a_task_drives_another_loop_then_each_loop_has_its_own) {
  other.scheduler().post(look());
  std::optional<SchedulingState> outer;
  scheduler.post(
      [&] {
        other.run_until_idle();
        outer = support::current_state();
      },
      with_signal);
  loop.run_until_idle();
  expect_seen_is_plain(other.scheduler());
  seen = outer;
  expect_seen_is_of(scheduler);
}

// Rule: YLD-3 ("cleared between tasks")
TEST_F(Yld3Borders, WPT_SP_11_state_when_a_task_and_its_microtasks_are_over_then_none) {
  static_cast<void>(scheduler.post_task([] { queue_microtask([] {}); }, with_signal));
  scheduler.post([] { queue_microtask([] {}); }, {.priority = TaskPriority::background});
  for (int task = 0; task < 2; ++task) {
    EXPECT_TRUE(loop.run_one());
    const DriveScope driving(Access::core(loop));
    EXPECT_EQ(Scheduler::current(), std::nullopt);
    const SchedulingState state = support::current_state();
    EXPECT_FALSE(state.scheduler);
    EXPECT_EQ(state.abort_source, nullptr);
    EXPECT_EQ(state.priority_source, nullptr);
    EXPECT_EQ(state.priority, TaskPriority::user_visible);
  }
}

// Rule: YLD-3 ("cleared between tasks"). An aborted callback is destroyed between tasks, not within
//         one.
TEST_F(Yld3Borders, state_when_an_aborted_callback_is_destroyed_between_tasks_then_none) {
  std::optional<Scheduler> in_destructor = scheduler;
  struct Look {
    explicit Look(std::optional<Scheduler>& place) : seen(&place) {}
    ~Look() { *seen = Scheduler::current(); }
    std::optional<Scheduler>* seen;
  };
  scheduler.post([look = std::make_shared<Look>(in_destructor)] {}, with_signal);
  scheduler.post([] { queue_microtask([] {}); }, {.priority = TaskPriority::user_blocking});
  EXPECT_TRUE(loop.run_one());
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(in_destructor, std::nullopt);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
