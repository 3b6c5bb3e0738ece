// Rule: DLY-6. However much other threads have handed over, a signal's time limit does not wait
// until all of it has arrived: counted, not timed. What is handed over keeps its place (ORD-2,
// ORD-3), and is counted (LIF-1).
#include <gmock/gmock.h>
#include <algorithm>

#include <deque>
#include <heist/heist.hpp>
#include <vector>

#include "heist/loop/loop_core.hpp"
#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

/// One of many that arrive, each of which takes the loop a microsecond.
struct SlowMessage : LoopNode {
  explicit SlowMessage(std::size_t& count) noexcept : LoopNode(table), arrived(count) {}
  static void take(LoopNode& node, TaskHome& home) noexcept {
    ++static_cast<SlowMessage&>(node).arrived;
    home.time().set_virtual(home.time().now() + 1us);
  }
  static void ignore(LoopNode& /*node*/) noexcept {}
  static constexpr MessageOps table{&ignore, &take};

  std::size_t& arrived;
};

class ArrivalInPortions : public RuntimeFixture {
 protected:
  static constexpr std::size_t many = 100'000;
  /// Of what arrives in a millisecond, and between two looks at the limits.
  static constexpr std::size_t few = 1000 + 1024;

  void hand_over_many() {
    on_thread([this] {
      for (std::size_t i = 0; i < many; ++i) {
        ASSERT_TRUE(Access::core(loop).post_node(messages.emplace_back(arrived)));
      }
    });
  }
  /// How many had arrived when the signal aborted.
  Subscription note_arrived(const AbortSignal& signal) {
    return signal.on_abort([this] { arrived_at_abort.push_back(arrived); });
  }
  void post_on_thread(std::string label, TaskPriority priority) {
    on_thread([&] {
      ASSERT_TRUE(scheduler.post([this, label] { trace.add(label); }, {.priority = priority}));
    });
  }

  EventLoop loop{{.clock = LoopClock::virtual_time}};
  Scheduler scheduler = loop.scheduler();
  std::deque<SlowMessage> messages;
  std::size_t arrived = 0;
  std::vector<std::size_t> arrived_at_abort;
};

TEST_F(ArrivalInPortions, limit_when_it_ends_while_the_inbox_arrives_then_aborts_before_the_rest) {
  const auto signal = AbortSignal::timeout(scheduler, 1ms);
  const auto subscription = note_arrived(signal);
  hand_over_many();
  loop.run_until_idle();
  ASSERT_EQ(arrived_at_abort.size(), 1U);
  EXPECT_GE(arrived_at_abort[0], 1000U);
  EXPECT_LE(arrived_at_abort[0], few);
  EXPECT_EQ(arrived, many);
}

TEST_F(ArrivalInPortions, limits_when_many_end_while_the_inbox_arrives_then_each_aborts_in_time) {
  std::vector<Subscription> subscriptions;
  for (int i = 1; i <= 90; ++i) {
    subscriptions.push_back(
        note_arrived(AbortSignal::timeout(scheduler, std::chrono::milliseconds(i))));
  }
  hand_over_many();
  loop.run_until_idle();
  ASSERT_EQ(arrived_at_abort.size(), 90U);
  for (std::size_t i = 0; i < 90; ++i) EXPECT_LE(arrived_at_abort[i], i * 1000 + few);
}

TEST_F(ArrivalInPortions, limit_of_another_thread_when_much_was_handed_over_before_then_in_time) {
  hand_over_many();
  std::optional<AbortSignal> signal;
  on_thread([&] { signal = AbortSignal::timeout(scheduler, 1ms); });
  const auto subscription = note_arrived(*signal);
  loop.run_until_idle();
  ASSERT_EQ(arrived_at_abort.size(), 1U);
  EXPECT_LE(arrived_at_abort[0], few);
}

TEST_F(ArrivalInPortions,
       task_when_a_limit_aborts_between_then_still_waits_for_all_that_was_posted) {
  const auto signal = AbortSignal::timeout(scheduler, 1ms);
  const auto subscription = signal.on_abort([this] { trace.add("abort"); });
  post_on_thread("first", background);
  hand_over_many();
  post_on_thread("urgent", user_blocking);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), testing::ElementsAre("abort", "urgent", "first"));
}

TEST_F(ArrivalInPortions,
       local_post_of_a_listener_when_much_waits_to_arrive_then_behind_all_of_it) {
  const auto signal = AbortSignal::timeout(scheduler, 1ms);
  const auto subscription = signal.on_abort([this] {
    EXPECT_LT(arrived, many);
    scheduler.post([this] { trace.add("listener's"); });
    EXPECT_EQ(arrived, many);
  });
  hand_over_many();
  post_on_thread("of the thread", user_visible);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), testing::ElementsAre("of the thread", "listener's"));
}

TEST_F(ArrivalInPortions, tasks_when_they_wait_to_arrive_then_are_counted_all_the_same) {
  constexpr std::size_t tasks = 5000;
  std::size_t counted = 0;
  const auto signal = AbortSignal::timeout(scheduler, 1ms);
  const auto subscription = signal.on_abort(
      [&] { on_thread([&] { counted = Access::core(loop).counts().tally().not_started; }); });
  hand_over_many();
  on_thread([this] {
    for (std::size_t i = 0; i < tasks; ++i) scheduler.post([] {});
  });
  std::vector<AbortSignal> limits;
  on_thread([&] { limits.assign(1, AbortSignal::timeout(scheduler, 1h)); });
  loop.run_until_idle();
  EXPECT_EQ(counted, tasks + 1);
}

TEST_F(ArrivalInPortions, poll_when_a_limit_aborts_between_then_runs_what_was_there) {
  const auto signal = AbortSignal::timeout(scheduler, 1ms);
  const auto subscription = note_arrived(signal);
  hand_over_many();
  post_on_thread("task", background);
  EXPECT_EQ(loop.poll(), 2U);
  EXPECT_THAT(trace.take(), testing::ElementsAre("task"));
  EXPECT_LE(arrived_at_abort.at(0), few);
}

TEST_F(ArrivalInPortions, close_when_much_waits_to_arrive_then_all_of_it_goes) {
  const auto signal = AbortSignal::timeout(scheduler, 1ms);
  const auto subscription = signal.on_abort([this] { loop.stop(); });
  hand_over_many();
  post_on_thread("task", user_visible);
  loop.run_one();
  EXPECT_LT(arrived, many);
  EXPECT_EQ(loop.pending(), 1U);
  EXPECT_EQ(arrived, many);
  EXPECT_EQ(loop.close(CloseMode::abort()).aborted, 1U);
}

// A stop that was sent may be behind any of it: it is not overtaken.
TEST_F(ArrivalInPortions, stop_when_sent_behind_much_then_ends_the_run_before_any_limit) {
  const auto signal = AbortSignal::timeout(scheduler, 1ms);
  const auto subscription = note_arrived(signal);
  hand_over_many();
  on_thread([this] { loop.stop(); });
  loop.run();
  EXPECT_EQ(arrived, many);
  EXPECT_TRUE(arrived_at_abort.empty());
}

// Limits that others have set have no message of their own each, and none once they were dropped.
class LimitsOfOtherThreads : public ArrivalInPortions {
 protected:
  std::vector<AbortSignal> set_many(std::chrono::nanoseconds length, std::size_t count) {
    std::vector<AbortSignal> limits;
    on_thread([&] {
      for (std::size_t i = 0; i < count; ++i) {
        limits.push_back(AbortSignal::timeout(scheduler, length));
      }
    });
    return limits;
  }
};

TEST_F(LimitsOfOtherThreads, limits_when_set_and_dropped_at_once_then_nothing_is_left) {
  on_thread([&] {
    for (int i = 0; i < 100; ++i) static_cast<void>(AbortSignal::timeout(scheduler, 1h));
    EXPECT_EQ(Access::core(loop).counts().tally().not_started, 0U);
  });
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(LimitsOfOtherThreads, limits_when_dropped_before_they_arrive_then_go_as_they_arrive) {
  auto limits = set_many(1h, 3000);
  const AbortSignal kept = limits[1500];
  limits.clear();
  EXPECT_EQ(loop.pending(), 1U);
  EXPECT_FALSE(kept.aborted());
}

TEST_F(LimitsOfOtherThreads, limits_when_dropped_after_they_arrived_then_go_by_a_message) {
  auto limits = set_many(1h, 3000);
  EXPECT_EQ(loop.pending(), 3000U);
  on_thread([&] { limits.clear(); });
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(LimitsOfOtherThreads, limits_when_they_end_together_then_abort_in_the_order_they_were_set) {
  const auto limits = set_many(1ms, 5000);
  std::vector<Subscription> subscriptions;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    subscriptions.push_back(limits[i].on_abort([&order, i] { order.push_back(i); }));
  }
  loop.advance(1ms);
  ASSERT_EQ(order.size(), limits.size());
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(LimitsOfOtherThreads, limits_when_the_loop_is_closed_then_never_abort) {
  for (const bool has_arrived : {true, false}) {
    EventLoop other({.clock = LoopClock::virtual_time});
    std::vector<AbortSignal> limits;
    on_thread([&] {
      for (int i = 0; i < 2000; ++i) {
        limits.push_back(AbortSignal::timeout(other.scheduler(), 1ms));
      }
    });
    limits.resize(1000, limits[0]);
    if (has_arrived) {
      EXPECT_EQ(other.pending(), 1000U);
    }
    EXPECT_EQ(other.close(CloseMode::abort()).aborted, 1000U);
    EXPECT_FALSE(limits[0].aborted());
    on_thread([&] { limits.push_back(AbortSignal::timeout(other.scheduler(), 0ms)); });
    EXPECT_FALSE(limits.back().aborted());
  }
}

}  // namespace
}  // namespace heist::support
