// Rule: LIF-2, CLU-4: a loop takes its file descriptors with it, and a closed one makes none
//         readable.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <filesystem>
#include <heist/heist.hpp>
#include <iterator>
#include <optional>
#include <utility>

#include "api/probes.hpp"
#include "support/readable.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;

/// The one that counts included.
std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

class Lif2Descriptors : public testing::Test {
 protected:
  void expect_none_left() const { EXPECT_EQ(open_descriptors(), before); }

  std::ptrdiff_t before = open_descriptors();
};

// Rule: LIF-2 (that descriptors are counted at all)
TEST_F(Lif2Descriptors, loop_when_it_has_a_descriptor_then_open_until_it_is_destroyed) {
  {
    EventLoop loop;
    EXPECT_GE(loop.wakeup_fd(), 0);
    EXPECT_GT(open_descriptors(), before);
  }
  expect_none_left();
}

// Rule: LIF-2
TEST_F(Lif2Descriptors, loop_when_destroyed_before_a_scheduler_then_leaves_none_open) {
  std::optional<Scheduler> kept;
  {
    EventLoop loop;
    static_cast<void>(loop.wakeup_fd());
    kept = loop.scheduler();
  }
  expect_none_left();
  EXPECT_FALSE(kept->post([] {}));
}

// Rule: LIF-2
TEST_F(Lif2Descriptors, loop_when_destroyed_before_a_signal_of_its_tasks_then_leaves_none_open) {
  AbortController controller;
  {
    EventLoop loop;
    static_cast<void>(loop.wakeup_fd());
    loop.scheduler().post([] {}, {.signal = controller.signal()});
    loop.poll();
  }
  expect_none_left();
  controller.abort();
}

// Rule: LIF-2
TEST_F(Lif2Descriptors, loop_when_destroyed_before_a_promise_of_it_settles_then_leaves_none_open) {
  auto [source, resolver] = Promise<void>::with_resolver();
  auto result = Promise<void>::resolved();
  {
    EventLoop loop;
    static_cast<void>(loop.wakeup_fd());
    result = source.then(loop.scheduler(), [] {});
  }
  expect_none_left();
  resolver.resolve();
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
}

// Rule: LIF-1. The other loop's later delay tells when the time has come.
TEST(Lif1Descriptor, descriptor_when_closed_with_a_delay_ahead_then_not_readable_at_its_time) {
  EventLoop closed;
  EventLoop clock;
  const int descriptor = closed.wakeup_fd();
  const int tells_time = clock.wakeup_fd();
  closed.scheduler().post([] {}, {.delay = 1ms});
  closed.poll();
  closed.close(CloseMode::abort());
  clock.scheduler().post([] {}, {.delay = 10ms});
  clock.poll();
  ASSERT_TRUE(support::becomes_readable(tells_time, test::patience));
  EXPECT_FALSE(support::becomes_readable(descriptor, 0ms));
}

}  // namespace
}  // namespace heist
