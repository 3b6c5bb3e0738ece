// A callback that sees its signal aborted cannot settle its promise any more, whatever the
// interleaving.
#include <gtest/gtest.h>

#include <heist/heist.hpp>

namespace heist {
namespace {

constexpr int rounds = 500;
constexpr int queued_behind = 100;

/// One round: a task runs until it sees the abort, then returns at once.
PromiseStatus status_when_the_callback_sees_the_abort(const Scheduler& scheduler) {
  AbortController controller;
  auto [started, start] = Promise<void>::with_resolver();
  const auto result = scheduler.post_task(
      [signal = controller.signal(), running = std::move(start)]() mutable {
        running.resolve();
        while (!signal.aborted()) {
        }
        return 1;
      },
      {.signal = controller.signal()});
  // Walks go newest first: these keep the aborter busy before it comes to the running one.
  for (int i = 0; i < queued_behind; ++i) {
    scheduler.post([] {}, {.signal = controller.signal()});
  }
  started.get();
  controller.abort();
  return result.status();
}

// Rule: ABT-2, ABT-6
TEST(Abt6Seen, abort_when_the_callback_sees_it_and_returns_then_the_promise_is_rejected) {
  Agent agent;
  for (int round = 0; round < rounds; ++round) {
    ASSERT_EQ(status_when_the_callback_sees_the_abort(agent.scheduler()), PromiseStatus::rejected)
        << "round " << round;
  }
}

}  // namespace
}  // namespace heist
