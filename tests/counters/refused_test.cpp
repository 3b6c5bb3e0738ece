// What a post that is refused costs. WPT: SP-12: the signal is looked at before anything is
// allocated.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <heist/heist.hpp>

#include "api/probes.hpp"
#include "counters/counting.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::allocated_by;
using test::Allocations;

/// Too large for the pool to keep: its node would count.
struct RefusedCallback {
  std::array<char, 600> bytes{};
  void operator()() const {}
};

class RefusedPost : public test::LoopTest {
 protected:
  RefusedPost() { controller.abort(); }

  AbortController controller;
};

// Rule: ABT-2
TEST_F(RefusedPost, WPT_SP_12_post_when_the_signal_is_aborted_then_nothing_is_allocated) {
  const PostTaskOptions options{.signal = controller.signal(), .delay = 1ms};
  EXPECT_EQ(allocated_by([&] { EXPECT_FALSE(scheduler.post(RefusedCallback(), options)); }),
            Allocations{});
}

// Rule: ABT-2. The promise is allocated, the task is not: it would be a large node.
TEST_F(RefusedPost, WPT_SP_12_post_task_when_the_signal_is_aborted_then_no_task_is_allocated) {
  const PostTaskOptions options{.signal = controller.signal()};
  static_cast<void>(scheduler.post_task(RefusedCallback(), options));  // fills the pool
  if (!test::pool_recycles()) GTEST_SKIP() << "this build's pool keeps nothing";
  EXPECT_EQ(
      allocated_by([&] { static_cast<void>(scheduler.post_task(RefusedCallback(), options)); }),
      Allocations{});
}

}  // namespace
}  // namespace heist
