// What signals, their tasks and listeners leave behind: nothing that grows (ABT-5), on no loop
// (ABT-4). The callbacks are too large for the node pool to keep, so that each node counts as one.
#include <array>
#include <cstdint>
#include <functional>
#include <heist/event_loop.hpp>
#include <heist/task_signal.hpp>
#include <memory>
#include <vector>

#include "heist/memory/node_pool.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

struct Large {
  std::array<char, 600> bytes{};
  void operator()() const {}
};

class Abt5Large : public VirtualLoopFixture {
 protected:
  static constexpr int rounds = 300;
  static constexpr int count = 100;
  /// A round's, and the dead registrations that a signal may keep.
  static constexpr std::int64_t few = 3 * count;

  /// By how many allocations the memory in use grew, after the first rounds.
  static std::int64_t growth(int times, const std::function<void()>& round) {
    std::uint64_t begin = 0;
    for (int i = 0; i < times; ++i) {
      if (i == times / 10) begin = allocations_held();
      round();
    }
    return static_cast<std::int64_t>(allocations_held() - begin);
  }
  static std::uint64_t allocations_held() {
    const NodePoolStats stats = node_pool_stats();
    return stats.backing_allocations - stats.backing_releases;
  }

  TaskController long_lived;
};

TEST_F(Abt5Large, growth_when_something_is_kept_then_seen) {
  std::vector<Promise<void>> kept;
  EXPECT_GT(growth(rounds, [&] { kept.push_back(scheduler.post_task(Large())); }), rounds / 2);
  loop.run_until_idle();
}

// Rule: ABT-5
TEST_F(Abt5Large, WPT_SP_06_signal_when_many_tasks_of_every_kind_used_it_then_memory_is_flat) {
  const PostTaskOptions options{.signal = long_lived.signal()};
  const PostTaskOptions delayed{.signal = long_lived.signal(), .delay = 1ms};
  EXPECT_LE(growth(rounds,
                   [&] {
                     for (int i = 0; i < count / 4; ++i) {
                       scheduler.post(Large(), options);
                       scheduler.post(Large(), delayed);
                       static_cast<void>(scheduler.post_task(Large(), options));
                       static_cast<void>(scheduler.post_task(Large(), delayed));
                     }
                     loop.advance(1ms);
                   }),
            few);
}

// Rule: ABT-5
TEST_F(Abt5Large, signal_when_many_listeners_of_both_kinds_come_and_go_then_memory_is_flat) {
  EXPECT_LE(growth(rounds,
                   [&] {
                     for (int i = 0; i < count / 2; ++i) {
                       const auto on_abort = long_lived.signal().on_abort(Large());
                       const auto on_change = long_lived.signal().on_priority_change(Large());
                     }
                   }),
            few);
}

// Rule: ABT-5
TEST_F(Abt5Large, signal_when_its_loop_refuses_many_tasks_then_memory_is_flat) {
  const PostTaskOptions options{.signal = long_lived.signal()};
  EventLoop closed;
  closed.close(CloseMode::abort());
  EXPECT_LE(growth(rounds,
                   [&] {
                     for (int i = 0; i < count; ++i) closed.scheduler().post(Large(), options);
                   }),
            few);
}

// Rule: ABT-5. Signals are small: of these, thousands fit into one allocation.
TEST_F(Abt5Large, loop_when_many_signals_come_and_go_then_memory_is_flat) {
  EXPECT_LE(growth(30'000,
                   [&] {
                     TaskController controller;
                     const auto listener = controller.signal().on_abort([] {});
                     scheduler.post([] {}, {.signal = controller.signal()});
                     controller.set_priority(background);
                     loop.run_until_idle();
                     scheduler.post([] {}, {.signal = controller.signal(), .delay = 1h});
                     controller.abort();
                     loop.run_until_idle();
                   }),
            5);
}

class Abt4Loops : public VirtualLoopFixture {};

// Rule: ABT-4
TEST_F(Abt4Loops, abort_when_delayed_tasks_are_on_several_loops_then_each_loop_clears_its_own) {
  AbortController controller;
  std::vector<std::unique_ptr<EventLoop>> loops;
  for (long i = 1; i <= 4; ++i) {
    const EventLoopOptions options{.clock = LoopClock::virtual_time};
    auto& each = *loops.emplace_back(std::make_unique<EventLoop>(options));
    for (const auto delay : {Delay(1h), Delay::never()}) {
      each.scheduler().post(note("never"), {.signal = controller.signal(), .delay = delay});
    }
    EXPECT_EQ(each.pending(), 2U);
  }
  controller.abort();
  for (long left = 8; auto& each : loops) {
    EXPECT_EQ(callbacks.alive(), left);
    each->run_until_idle();
    EXPECT_EQ(each->pending(), 0U);
    left -= 2;
  }
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_THAT(trace.take(), ElementsAre());
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
