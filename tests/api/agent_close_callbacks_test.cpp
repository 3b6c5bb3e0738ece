// Rule: LIF-1, ABT-8: what users' code does, or how long it takes, while an Agent closes.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <heist/heist.hpp>
#include <optional>
#include <utility>

#include "api/probes.hpp"
#include "support/close_modes.hpp"
#include "support/live_count.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using support::AtDestruction;
using test::Gate;

/// Has a reaction to the promise dropped when that settles: `last_words` is called there and then.
void call_when_settled(const Promise<void>& promise, std::function<void()> last_words) {
  const EventLoop closed(test::on_virtual_clock());
  static_cast<void>(
      promise.then(closed.scheduler(), [end = AtDestruction(std::move(last_words))] {}));
}

/// An agent whose task runs beyond the deadline of a close, which so rejects its promise.
class Abt8AgentClose : public testing::Test {
 protected:
  Abt8AgentClose() { running.wait(); }
  ~Abt8AgentClose() override { release.open(); }

  Gate running;
  Gate release;
  Agent agent;
  Promise<void> promise = agent.scheduler().post_task([this] {
    running.open();
    release.wait();
  });
};

// Rule: ABT-8 ("no internal lock held")
TEST_F(Abt8AgentClose, close_when_its_rejection_has_another_thread_close_then_both_return) {
  std::optional<bool> returned;
  std::future<CloseReport> second;
  call_when_settled(promise, [&] {
    second =
        std::async(std::launch::async, [&] { return agent.close(support::deadline_is_now()); });
    returned = second.wait_for(test::patience) == std::future_status::ready;
  });
  EXPECT_EQ(agent.close(support::deadline_is_now()).still_running, 1U);
  EXPECT_EQ(returned, true);
  EXPECT_EQ(second.get(), (CloseReport{.still_running = 1}));
}

// Rule: ABT-8. A hang is the failure.
TEST_F(Abt8AgentClose, close_when_its_rejection_closes_again_then_both_return) {
  std::optional<CloseReport> second;
  call_when_settled(promise, [&] { second = agent.close(support::deadline_is_now()); });
  EXPECT_EQ(agent.close(support::deadline_is_now()).still_running, 1U);
  EXPECT_EQ(second, (CloseReport{.still_running = 1}));
}

/// Users' code that is no task and does not return until the close has.
class Lif1AgentNothingRuns : public testing::Test {
 protected:
  [[nodiscard]] std::function<void()> slow() {
    return [this] { release.wait(); };
  }
  /// The report of a close whose deadline is now, if it comes while the slow code goes on.
  std::optional<CloseReport> close_in_time(Agent& agent) {
    auto closing =
        std::async(std::launch::async, [&] { return agent.close(support::deadline_is_now()); });
    const bool in_time = closing.wait_for(test::patience) == std::future_status::ready;
    release.open();
    return in_time ? std::optional(closing.get()) : std::nullopt;
  }

  Gate release;
};

// Rule: LIF-1
TEST_F(Lif1AgentNothingRuns, close_when_on_stop_is_slow_then_no_task_is_still_running) {
  AgentOptions options;
  options.on_stop = slow();
  Agent agent(options);
  const auto report = close_in_time(agent);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->still_running, 0U);
}

// Rule: LIF-1
TEST_F(Lif1AgentNothingRuns, close_when_a_dropped_callback_goes_slowly_then_no_task_is_running) {
  Agent agent;
  agent.scheduler().post([end = AtDestruction(slow())] {}, {.delay = 1h});
  const auto report = close_in_time(agent);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->still_running, 0U);
}

// Rule: LIF-1 (that a running task is counted)
TEST_F(Lif1AgentNothingRuns, close_when_a_task_is_slow_then_it_is_still_running) {
  Gate running;
  Agent agent;
  agent.scheduler().post([&] {
    running.open();
    slow()();
  });
  running.wait();
  const auto report = close_in_time(agent);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->still_running, 1U);
}

}  // namespace
}  // namespace heist
