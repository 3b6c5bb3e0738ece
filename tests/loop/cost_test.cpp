// What operations cost, as the number of tasks or timers they touch: PRI-5's and ABT-4's bounds
// without a clock.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "heist/task/task_queues.hpp"
#include "heist/task/timer_wheel.hpp"
#include "support/paged.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using support::Paged;

constexpr LoopNodeOps no_ops{};
constexpr std::size_t many = 1000;

struct TestTask : SchedulerTask {
  explicit TestTask(std::uint64_t order) : SchedulerTask(no_ops, false) { key = order; }
};

constexpr int background_level = effective_priority(TaskPriority::background, false);
constexpr int user_visible_level = effective_priority(TaskPriority::user_visible, false);

class Pri5 : public testing::Test {
 protected:
  TestTask& make_task() { return tasks.make(tasks.size() + 1); }
  void push_static() { queues.push(make_task()); }
  void push_dynamic(DynamicQueue& queue, int level) {
    queues.push_dynamic(make_task(), queue, level);
  }
  void drain() {
    while (queues.pop() != nullptr) {
    }
  }

  Paged<TestTask> tasks{many + 2};
  TaskQueues queues;
};

TEST_F(Pri5, touched_by_when_all_are_read_then_all_are_counted) {
  for (std::size_t i = 0; i < many; ++i) push_static();
  EXPECT_EQ(tasks.touched_by([&] {
    for (std::size_t i = 0; i < many; ++i) tasks[i].key += 1;
  }),
            many);
  EXPECT_EQ(tasks.touched_by([] {}), 0U);
  drain();
}

// Rule: PRI-5. The queue that moves, and the one it meets, by their first task.
TEST_F(Pri5, move_when_a_thousand_tasks_are_queued_then_touches_two) {
  DynamicQueue moved;
  DynamicQueue met;
  push_dynamic(met, background_level);
  for (std::size_t i = 0; i < many; ++i) push_dynamic(moved, user_visible_level);
  EXPECT_LE(tasks.touched_by([&] { queues.move(moved, background_level); }), 2U);
  EXPECT_LE(tasks.touched_by([&] { queues.move(moved, user_visible_level); }), 2U);
  drain();
}

// Rule: PRI-5 ("O(1) when there are none")
TEST_F(Pri5, pop_when_a_thousand_static_tasks_are_queued_then_touches_it_and_the_next) {
  for (std::size_t i = 0; i < many; ++i) push_static();
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_LE(tasks.touched_by([&] { static_cast<void>(queues.pop()); }), 2U) << i;
  }
  EXPECT_TRUE(queues.empty());
}

// Rule: PRI-5
TEST_F(Pri5, push_when_a_thousand_tasks_are_queued_then_touches_it_and_the_last) {
  DynamicQueue queue;
  for (std::size_t i = 0; i < many / 2; ++i) push_static();
  for (std::size_t i = 0; i < many / 2; ++i) push_dynamic(queue, user_visible_level);
  TestTask& fixed = make_task();
  TestTask& dynamic = make_task();
  EXPECT_LE(tasks.touched_by([&] { queues.push(fixed); }), 2U);
  EXPECT_LE(tasks.touched_by([&] { queues.push_dynamic(dynamic, queue, user_visible_level); }), 2U);
  drain();
}

// Rule: PRI-5 ("amortised O(log Q)"). 8 is the logarithm; looking at every queue would touch 128 on
//         average.
TEST_F(Pri5, pop_when_there_are_256_dynamic_queues_then_touches_a_few_on_average) {
  constexpr std::size_t queue_count = 256;
  std::vector<DynamicQueue> dynamic(queue_count);
  std::mt19937 random(20250102);  // NOLINT(bugprone-random-generator-seed): repeatable
  for (std::size_t i = 0; i < 3 * queue_count; ++i) {
    push_dynamic(dynamic[i < queue_count ? i : random() % queue_count], user_visible_level);
  }
  std::size_t touched = 0;
  std::uint64_t last = 0;
  while (!queues.empty()) {
    const SchedulerTask* task = nullptr;
    touched += tasks.touched_by([&] { task = queues.pop(); });
    ASSERT_GT(task->key, last);
    last = task->key;
  }
  EXPECT_LE(touched, tasks.size() * 4 * 8);
}

struct TestTimer : LoopNode {
  TestTimer() : LoopNode(timer_ops) {}
  static constexpr LoopNodeOps timer_ops{};
};

class Abt4Cost : public testing::Test {
 protected:
  void TearDown() override {
    wheel.drain([](LoopNode&) {});
  }
  TestTimer& arm(Tick expiry) {
    TestTimer& timer = timers.make();
    wheel.arm(timer, expiry);
    return timer;
  }

  static constexpr Tick hour = 3'600'000;
  Paged<TestTimer> timers{many + 1};
  TimerWheel wheel;
};

// Rule: ABT-4 ("a timer leaves the wheel in O(1), an hour-long delay included")
TEST_F(Abt4Cost,
       cancel_when_a_thousand_timers_are_armed_then_touches_its_neighbours_and_the_first) {
  for (std::size_t i = 0; i < many; ++i) arm(hour);
  for (std::size_t i = 0; i < many; i += 7) {
    ASSERT_LE(timers.touched_by([&] { wheel.cancel(timers[i]); }), 4U) << i;
  }
}

// Rule: ABT-4. Out of order, a cancel may also look for the slot's new minimum, among a few.
TEST_F(Abt4Cost, cancel_when_the_timers_were_armed_in_disorder_then_touches_a_bounded_number) {
  std::mt19937 random(20250103);  // NOLINT(bugprone-random-generator-seed): repeatable
  for (std::size_t i = 0; i < many; ++i) arm(hour + random() % 1000);
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_LE(timers.touched_by([&] { wheel.cancel(timers[i]); }),
              TimerWheel::minimum_scan_limit + 4U)
        << i;
  }
}

// Rule: DLY-1 (arming costs the same however many wait)
TEST_F(Abt4Cost, arm_when_a_thousand_timers_are_armed_then_touches_it_and_its_neighbour) {
  std::mt19937 random(20250104);  // NOLINT(bugprone-random-generator-seed): repeatable
  for (std::size_t i = 0; i < many; ++i) arm(hour + random() % 1000);
  TestTimer& last = timers.make();
  EXPECT_LE(timers.touched_by([&] { wheel.arm(last, hour); }), 2U);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
