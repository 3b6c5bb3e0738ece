// No step of a loop is as long as what was aborted or has come due (contract ABT-4): counted, not
// timed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <heist/heist.hpp>
#include <vector>

#include "heist/task/scheduler_delays.hpp"
#include "heist/task/timer_wheel.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

/// Nodes of a wheel, and how many were handed out.
class WheelPortions : public testing::TestWithParam<Tick> {
 protected:
  static constexpr std::size_t count = 100;
  struct Node : LoopNode {
    Node() noexcept : LoopNode(table) {}
    static constexpr LoopNodeOps table{LoopNodeKind::task, nullptr, nullptr};
  };

  void SetUp() override {
    for (std::size_t i = 0; i < count; ++i) wheel.arm(nodes[i], first + i % 3);
  }
  void TearDown() override {
    wheel.drain([](LoopNode& /*node*/) noexcept {});
  }
  std::size_t expire(std::size_t most) {
    const auto fired = wheel.expire(
        first + 2, [this](LoopNode& node) noexcept { keys.push_back(node.key); }, most);
    EXPECT_TRUE(wheel.check_invariants());
    return fired;
  }

  const Tick first = GetParam();
  TimerWheel wheel;
  std::array<Node, count> nodes;
  std::vector<Tick> keys;
};
// Of one slot, of one that is moved down first, and far away.
INSTANTIATE_TEST_SUITE_P(Ticks, WheelPortions, testing::Values(5, 64, 5000, 1U << 20));

TEST_P(WheelPortions, expire_when_it_may_take_few_steps_then_goes_on_in_order_at_the_next_calls) {
  std::size_t calls = 0;
  while (!wheel.empty()) {
    ASSERT_LE(expire(7), 7U);
    EXPECT_TRUE(wheel.empty() || wheel.next_expiry() <= first + 2) << "the rest is due";
    ASSERT_LT(++calls, 10 * count);
  }
  EXPECT_GE(calls, count / 7);
  EXPECT_EQ(keys.size(), count);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

TEST_P(WheelPortions, cancel_when_expire_has_stopped_then_those_do_not_fire_and_the_rest_does) {
  expire(7);
  const auto fired = keys.size();
  std::size_t cancelled = 0;
  for (auto& node : nodes) {
    // Those handed out have no list any more; of the others every second one goes.
    const bool is_armed = node.next != nullptr || node.prev != nullptr;
    if (!is_armed || cancelled == (count - fired) / 2) continue;
    wheel.cancel(node);
    ++cancelled;
    ASSERT_TRUE(wheel.check_invariants());
  }
  while (!wheel.empty()) expire(7);
  EXPECT_EQ(keys.size(), count - cancelled);
  EXPECT_EQ(wheel.next_expiry(), no_tick);
}

TEST_P(WheelPortions, arm_when_expire_has_stopped_then_fires_in_its_turn) {
  expire(7);
  Node late;
  wheel.arm(late, first + 1000);
  while (wheel.size() > 1) expire(7);
  expire(7);
  EXPECT_EQ(wheel.next_expiry(), first + 1000);
  wheel.cancel(late);
}

// By a scheduler's own time, those that were armed before its first suspension among them.
TEST(SchedulerDelaysPortions, expire_when_it_may_take_few_steps_then_goes_on_in_order) {
  using std::chrono::nanoseconds;
  struct Task : SchedulerTask {
    Task() noexcept : SchedulerTask(SchedulerDelays::Wake::table, false) {}
  };
  constexpr std::size_t count = 30;
  std::array<Task, count> early;
  std::array<Task, count> later;
  SchedulerDelays delays;
  for (std::size_t i = 0; i < count; ++i) {
    delays.push_early(early[i], nanoseconds(10 + i));
    later[i].posted_at = 0;
    later[i].key = 10 + i;
    delays.arm(later[i]);
  }
  std::vector<const SchedulerTask*> ended;
  const auto end = [&ended](SchedulerTask& task) noexcept { ended.push_back(&task); };
  for (int calls = 0; ended.size() < 2 * count; ++calls) {
    ASSERT_LT(calls, 60);
    const auto before = ended.size();
    delays.expire(nanoseconds(1000), end, 7);
    EXPECT_LE(ended.size() - before, 14U);  // seven of each
  }
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(ended[2 * i], &early[i]);
    EXPECT_EQ(ended[2 * i + 1], &later[i]);
  }
  delays.expire(nanoseconds(1000), end, 7);
  EXPECT_FALSE(delays.has_more_ended());
}

}  // namespace

}  // namespace HEIST_NAMESPACE::detail

namespace heist::support {
namespace {

// Rule: DLY-6. It waited for its portion: 10,000 tasks had ended their delays before it.
class LimitBehindDelays : public VirtualLoopFixture {};

TEST_F(LimitBehindDelays, abort_when_many_delays_end_at_the_same_moment_then_it_is_before_all) {
  std::vector<bool> aborted;
  std::vector<AbortSignal> limit;
  for (int i = 0; i < 10'000; ++i) {
    scheduler.post([&] { aborted.push_back(limit[0].aborted()); },
                   {.priority = TaskPriority::user_blocking, .delay = 5ms});
  }
  limit.push_back(AbortSignal::timeout(scheduler, 5ms));
  loop.advance(5ms);
  ASSERT_EQ(aborted.size(), 10'000U);
  EXPECT_TRUE(aborted.front());
}

}  // namespace
}  // namespace heist::support
