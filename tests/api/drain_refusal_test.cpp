// Rule: LIF-1: a loop that drains takes what its own tasks post, and refuses other threads
//         (docs/policies.md).
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <optional>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::Trace;

class Lif1DrainRefusal : public test::LoopTest {
 protected:
  /// What another thread is told when it posts while the loop drains.
  void post_from_another_thread() {
    test::on_plain_thread([this] {
      accepted = scheduler.post(note("posted"));
      promise = scheduler.post_task(note("posted"));
      delayed = scheduler.post_task(note("posted"), {.delay = 1h});
    });
  }
  void expect_refused() {
    EXPECT_EQ(accepted, false);
    EXPECT_TRUE(test::is<InvalidStateError>(promise.reason()));
    EXPECT_TRUE(test::is<InvalidStateError>(delayed.reason()));
    EXPECT_EQ(trace, Trace{});
  }

  std::optional<bool> accepted;
  Promise<void> promise = Promise<void>::resolved();
  Promise<void> delayed = Promise<void>::resolved();
};

TEST_F(Lif1DrainRefusal, post_when_another_thread_posts_while_a_task_drains_then_refused) {
  scheduler.post([this] { post_from_another_thread(); });
  EXPECT_EQ(loop.close(CloseMode::drain()).ran, 1U);
  expect_refused();
}

TEST_F(Lif1DrainRefusal, post_when_another_thread_posts_before_the_deadline_then_refused_too) {
  scheduler.post([this] { post_from_another_thread(); });
  loop.close(CloseMode::drain_until(std::chrono::steady_clock::now() + test::patience));
  expect_refused();
}

// What comes back from other threads is no post: the loop still hears of settled promises.
TEST_F(Lif1DrainRefusal, reaction_when_another_thread_settles_while_draining_then_it_still_runs) {
  auto [source, resolver] = Promise<void>::with_resolver();
  run_task([&, s = source] { static_cast<void>(s.then(note("reaction"))); });
  scheduler.post([&r = resolver] { test::on_plain_thread([&r] { r.resolve(); }); });
  loop.close(CloseMode::drain());
  EXPECT_EQ(trace, (Trace{"reaction"}));
}

}  // namespace
}  // namespace heist
