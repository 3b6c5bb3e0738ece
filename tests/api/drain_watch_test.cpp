// Rule: LIF-1. A drain without a deadline that does not get on tells once, through the error hook,
// for what it waits: of an agent, and of an event loop, whose driver is the one that drains. (Of
// clusters: tests/cluster/waiting_test.cpp.)
#include "heist/loop/drain_watch.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <heist/heist.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/error_recorder.hpp"
#include "support/threads.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

CloseMode drain_all() {
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  return mode;
}

/// A drain is told of after a moment, here.
class DrainTells : public testing::Test {
 protected:
  void SetUp() override { former = set_drain_patience(10ms); }
  void TearDown() override { set_drain_patience(former); }

  /// What was told while `close()` ran, which `let_go()` ends.
  std::vector<RecordedError> told_during(const std::function<void()>& close,
                                         const std::function<void()>& let_go) {
    std::vector<RecordedError> told;
    std::thread watcher([&] {
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (told.empty() && std::chrono::steady_clock::now() < patience) {
        told = errors.take();
        std::this_thread::yield();
      }
      let_go();
    });
    close();
    watcher.join();
    for (auto& error : errors.take()) told.push_back(std::move(error));
    return told;
  }
  static void expect_once(const std::vector<RecordedError>& told, const std::string& what) {
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].origin, ErrorOrigin::close);
    EXPECT_THAT(told[0].what, HasSubstr("a drain without a deadline does not get on"));
    EXPECT_THAT(told[0].what, HasSubstr(what));
  }

  ErrorRecorder errors;
  std::chrono::nanoseconds former{};
};

TEST_F(DrainTells, agent_when_tasks_of_a_suspended_scheduler_wait_then_once) {
  Agent agent;
  const Scheduler scheduler = agent.scheduler();
  scheduler.suspend();
  const auto held = scheduler.post_task([] { return 7; });
  const auto told = told_during([&] { agent.close(drain_all()); }, [&] { scheduler.resume(); });
  expect_once(told, "1 tasks of a suspended scheduler wait for its resume");
  EXPECT_EQ(held.get(), 7);
}

TEST_F(DrainTells, agent_when_its_task_waits_for_a_promise_then_once) {
  Agent agent;
  auto awaited = Promise<int>::with_resolver();
  Gate runs;
  const auto waits = agent.scheduler().post_task([&] {
    runs.open();
    return awaited.promise.get();
  });
  runs.wait();
  const auto told =
      told_during([&] { agent.close(CloseMode::drain()); }, [&] { awaited.resolver.resolve(7); });
  expect_once(told, "the running task waits for a promise");
  EXPECT_EQ(waits.get(), 7);
}

TEST_F(DrainTells, agent_when_its_task_takes_long_then_nothing) {
  Agent agent;
  Gate runs;
  Gate ends;
  agent.scheduler().post([&] {
    runs.open();
    ends.wait();
  });
  runs.wait();
  std::thread closer([&] { agent.close(CloseMode::drain()); });
  const auto never = Promise<void>::with_resolver();
  EXPECT_FALSE(never.promise.wait_for(100ms));
  ends.open();
  closer.join();
  EXPECT_TRUE(errors.take().empty());
}

TEST_F(DrainTells, agent_when_the_drain_has_a_deadline_then_nothing) {
  Agent agent;
  agent.scheduler().suspend();
  static_cast<void>(agent.scheduler().post([] {}));
  auto mode = CloseMode::drain_until(std::chrono::steady_clock::now() + 100ms);
  mode.wait_for_delayed = true;
  agent.close(mode);
  EXPECT_TRUE(errors.take().empty());
}

TEST_F(DrainTells, loop_when_tasks_of_a_suspended_scheduler_wait_then_once) {
  EventLoop loop;
  const Scheduler scheduler = loop.scheduler();
  scheduler.suspend();
  const auto held = scheduler.post_task([] { return 7; });
  const auto told = told_during([&] { loop.close(drain_all()); }, [&] { scheduler.resume(); });
  expect_once(told, "1 tasks of a suspended scheduler wait for its resume");
  EXPECT_EQ(held.get(), 7);
}

TEST_F(DrainTells, loop_when_it_waits_for_a_delay_then_nothing) {
  EventLoop loop;
  const auto delayed = loop.scheduler().post_task([] { return 7; }, {.delay = 100ms});
  loop.close(drain_all());
  EXPECT_EQ(delayed.get(), 7);
  EXPECT_TRUE(errors.take().empty());
}

}  // namespace
}  // namespace heist::support
