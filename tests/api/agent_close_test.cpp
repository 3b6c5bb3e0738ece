// Rule: LIF-1: closing an Agent, with tasks queued, delayed, running and suspended. WPT: MT-12,
//         MT-13.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "support/close_modes.hpp"
#include "support/error_recorder.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::Gate;

/// An agent one of whose tasks runs until `release` opens.
class BusyAgent {
 public:
  BusyAgent() { running.wait(); }
  ~BusyAgent() { let_go(); }
  BusyAgent(const BusyAgent&) = delete;
  BusyAgent& operator=(const BusyAgent&) = delete;

  void let_go() {
    if (!release.is_open()) release.open();
  }

  Gate running;
  Gate release;
  Agent agent;
  Scheduler scheduler = agent.scheduler();
  Promise<int> promise = scheduler.post_task([this] {
    running.open();
    release.wait();
    return 1;
  });
};

std::optional<CloseReport> close_in_time(Agent& agent, const CloseMode& mode, BusyAgent& busy) {
  return test::close_in_time(agent, mode, [&busy] { busy.let_go(); });
}

/// Posts until the scheduler refuses, as it does once a close on another thread has begun; how many
/// it took.
std::uint64_t posted_until_refused(const Scheduler& scheduler) {
  const auto never = Promise<void>::with_resolver();
  const auto end = Clock::now() + test::patience;
  std::uint64_t posted = 0;
  while (scheduler.post([] {}) && Clock::now() < end) {
    ++posted;
    static_cast<void>(never.promise.wait_for(100us));
  }
  return posted;
}

TEST(Lif1AgentDrain, close_when_draining_then_waits_for_the_running_task_and_runs_the_queued) {
  BusyAgent busy;
  const auto queued = busy.scheduler.post_task([] { return 2; });
  CloseReport report;
  std::thread closer([&] { report = busy.agent.close(CloseMode::drain()); });
  const auto posted = posted_until_refused(busy.scheduler);
  busy.release.open();
  closer.join();
  EXPECT_EQ(busy.promise.get(), 1);
  EXPECT_EQ(queued.get(), 2);
  EXPECT_EQ(report, (CloseReport{.ran = 2 + posted}));  // with the one that ran then
}

TEST(Lif1AgentDrain, close_when_idle_then_returns_at_once_with_nothing_to_report) {
  Agent agent;
  EXPECT_EQ(agent.close(CloseMode::drain()), CloseReport{});
}

TEST(Lif1AgentDrain, close_when_called_again_then_reports_the_same) {
  Agent agent;
  agent.scheduler().post([] {}, {.delay = 1h});
  EXPECT_EQ(agent.close(CloseMode::drain()), (CloseReport{.aborted = 1}));
  EXPECT_EQ(agent.close(CloseMode::drain()), (CloseReport{.aborted = 1}));
  EXPECT_EQ(agent.close(CloseMode::abort()), (CloseReport{.aborted = 1}));
}

TEST(Lif1AgentDrain, close_when_several_threads_close_then_all_have_the_report) {
  Agent agent;
  agent.scheduler().post([] {}, {.delay = 1h});
  std::atomic<std::uint64_t> aborted{0};
  std::vector<std::thread> closers;
  for (int i = 0; i < 4; ++i) {
    closers.emplace_back([&] { aborted += agent.close(CloseMode::drain()).aborted; });
  }
  for (auto& closer : closers) closer.join();
  EXPECT_EQ(aborted.load(), 4U);
}

// A task holds the agent, so that no other one can run before the close has begun; the delay of the
// last one begins in the drain.
TEST(Lif1AgentDrain, close_when_asked_to_wait_for_delayed_tasks_then_they_run) {
  BusyAgent busy;
  const auto delayed = busy.scheduler.post_task([] { return 3; }, {.delay = 2ms});
  const auto delayed_later = busy.scheduler.post_task([scheduler = busy.scheduler] {
    return scheduler.post_task([] { return 4; }, {.delay = 10ms});
  });
  CloseReport report;
  std::thread closer([&] { report = busy.agent.close(support::drain_all()); });
  const auto posted = posted_until_refused(busy.scheduler);
  busy.release.open();
  closer.join();
  EXPECT_EQ(report, (CloseReport{.ran = 4 + posted}));
  EXPECT_EQ(delayed.get(), 3);
  EXPECT_EQ(delayed_later.get(), 4);
}

TEST(Lif1AgentAbort, close_when_aborting_then_no_queued_task_starts) {
  BusyAgent busy;
  std::atomic<int> ran{0};
  std::vector<Promise<void>> queued;
  for (int i = 0; i < 3; ++i) queued.push_back(busy.scheduler.post_task([&ran] { ++ran; }));
  CloseReport report;
  std::thread closer([&] { report = busy.agent.close(CloseMode::abort()); });
  const auto posted = posted_until_refused(busy.scheduler);  // it is asked for while the task runs
  busy.release.open();
  closer.join();
  EXPECT_EQ(ran.load(), 0);
  EXPECT_EQ(report, (CloseReport{.ran = 1, .aborted = 3 + posted}));
  for (const auto& promise : queued) EXPECT_TRUE(test::is<AbortError>(promise.reason()));
  EXPECT_EQ(busy.promise.get(), 1);  // it ran to its end
}

TEST(Lif1AgentAbort, agent_when_destroyed_then_closed_with_abort_after_the_running_task) {
  std::atomic<int> ran{0};
  std::optional<Promise<int>> running;
  std::optional<Promise<void>> delayed;
  {
    BusyAgent busy;
    running = busy.promise;
    delayed = busy.scheduler.post_task([&ran] { ++ran; }, {.delay = 1h});
    busy.release.open();
  }
  EXPECT_EQ(running->get(), 1);
  EXPECT_EQ(ran.load(), 0);
  EXPECT_TRUE(test::is<AbortError>(delayed->reason()));
}

// CloseMode: "Tasks that other threads post from now on are refused in every mode."
TEST(Lif1AgentRefusal, post_when_a_close_is_asked_for_while_a_task_runs_then_refused_from_then_on) {
  BusyAgent busy;
  std::thread closer([&] { busy.agent.close(CloseMode::drain()); });
  posted_until_refused(busy.scheduler);
  EXPECT_FALSE(busy.scheduler.post([] {}));
  EXPECT_TRUE(test::is<InvalidStateError>(busy.scheduler.post_task([] {}).reason()));
  busy.release.open();
  closer.join();
}

class Lif1AgentDeadline : public testing::Test {
 protected:
  BusyAgent busy;
};

TEST_F(Lif1AgentDeadline, close_when_a_task_runs_beyond_it_then_its_promise_rejects_while_it_runs) {
  const auto report = close_in_time(busy.agent, support::deadline_is_now(), busy);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->still_running, 1U);
  EXPECT_FALSE(busy.release.is_open());
  EXPECT_TRUE(test::is<AbortError>(busy.promise.reason()));
}

// Rule: ABT-6
TEST_F(Lif1AgentDeadline, close_when_the_task_returns_after_it_then_its_late_value_is_dropped) {
  const auto probe = std::make_shared<int>();
  Gate running;
  Gate release;
  Agent agent;
  const auto promise = agent.scheduler().post_task([&, probe] {
    running.open();
    release.wait();
    return probe;
  });
  running.wait();
  agent.close(support::deadline_is_now());
  const Reason reason = promise.reason();
  EXPECT_TRUE(reason);
  release.open();
  agent.close(CloseMode::drain());
  EXPECT_EQ(promise.reason(), reason);
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: ABT-6
TEST_F(Lif1AgentDeadline, close_when_the_task_returns_a_promise_after_it_then_the_rejection_stays) {
  Gate running;
  Gate release;
  Agent agent;
  const auto promise = agent.scheduler().post_task([&] {
    running.open();
    release.wait();
    return Promise<int>::resolved(7);
  });
  running.wait();
  agent.close(support::deadline_is_now());
  release.open();
  agent.close(CloseMode::drain());
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

TEST_F(Lif1AgentDeadline,
       close_when_the_running_task_has_a_signal_then_a_later_abort_changes_nothing) {
  AbortController controller;
  Gate running;
  Gate release;
  Agent agent;
  const auto promise = agent.scheduler().post_task(
      [&] {
        running.open();
        release.wait();
      },
      {.signal = controller.signal()});
  running.wait();
  agent.close(support::deadline_is_now());
  const Reason reason = promise.reason();
  EXPECT_TRUE(test::is<AbortError>(reason));
  controller.abort("too late");
  EXPECT_EQ(promise.reason(), reason);
  release.open();
}

TEST_F(Lif1AgentDeadline, close_when_an_aborted_task_still_runs_then_its_reason_stays) {
  AbortController controller;
  Gate running;
  Gate release;
  Agent agent;
  const auto promise = agent.scheduler().post_task(
      [&] {
        running.open();
        release.wait();
      },
      {.signal = controller.signal()});
  running.wait();
  controller.abort("first");
  EXPECT_EQ(agent.close(support::deadline_is_now()).still_running, 1U);
  EXPECT_EQ(promise.reason(), controller.signal().reason());
  release.open();
}

TEST_F(Lif1AgentDeadline, close_when_a_fire_and_forget_task_runs_beyond_it_then_returns_in_time) {
  Gate running;
  Gate release;
  Agent agent;
  agent.scheduler().post([&] {
    running.open();
    release.wait();
  });
  running.wait();
  auto closing =
      std::async(std::launch::async, [&] { return agent.close(support::deadline_is_now()); });
  const bool in_time = closing.wait_for(test::patience) == std::future_status::ready;
  release.open();
  EXPECT_TRUE(in_time);
  EXPECT_EQ(closing.get().still_running, 1U);
}

// Rule: LIF-3
TEST_F(Lif1AgentDeadline, close_when_such_a_task_throws_after_it_then_the_hook_hears_of_it) {
  const AbortController controller;
  for (const bool has_signal : {false, true}) {
    support::ErrorRecorder errors;
    {
      Gate running;
      Gate release;
      Agent agent;
      const auto callback = [&] {
        running.open();
        release.wait();
        throw std::range_error("late");
      };
      has_signal ? agent.scheduler().post(callback, {.signal = controller.signal()})
                 : agent.scheduler().post(callback);
      running.wait();
      EXPECT_EQ(agent.close(support::deadline_is_now()).still_running, 1U);
      release.open();
    }
    EXPECT_EQ(errors.take(), (std::vector{support::RecordedError{ErrorOrigin::task, "late"}}));
  }
}

TEST_F(Lif1AgentDeadline, close_when_a_reaction_runs_beyond_it_then_returns_in_time) {
  Gate running;
  Gate release;
  Agent agent;
  auto [promise, resolver] = Promise<void>::with_resolver();
  const auto result = promise.then(agent.scheduler(), [&] {
    running.open();
    release.wait();
  });
  resolver.resolve();
  running.wait();
  auto closing =
      std::async(std::launch::async, [&] { return agent.close(support::deadline_is_now()); });
  const bool in_time = closing.wait_for(test::patience) == std::future_status::ready;
  release.open();
  closing.get();
  EXPECT_TRUE(in_time);
}

TEST_F(Lif1AgentDeadline, post_when_the_close_has_returned_though_a_task_runs_then_refused) {
  ASSERT_TRUE(close_in_time(busy.agent, support::deadline_is_now(), busy).has_value());
  EXPECT_FALSE(busy.scheduler.post([] {}));
  EXPECT_TRUE(test::is<InvalidStateError>(busy.scheduler.post_task([] {}).reason()));
}

// CloseMode: the rest rejects as soon as the running task returns.
TEST_F(Lif1AgentDeadline, close_when_tasks_are_left_at_it_then_they_never_start_and_reject) {
  std::atomic<bool> ran{false};
  const auto queued = busy.scheduler.post_task([&ran] { ran = true; });
  const auto delayed = busy.scheduler.post_task([&ran] { ran = true; }, {.delay = 1h});
  ASSERT_TRUE(close_in_time(busy.agent, support::deadline_is_now(), busy).has_value());
  busy.let_go();
  busy.agent.close(CloseMode::drain());  // waits for the end
  EXPECT_FALSE(ran.load());
  EXPECT_TRUE(test::is<AbortError>(queued.reason()));
  EXPECT_TRUE(test::is<AbortError>(delayed.reason()));
}

TEST_F(Lif1AgentDeadline,
       close_when_a_second_closer_has_an_earlier_deadline_then_it_returns_first) {
  Gate asked;
  std::thread patient([&] {
    asked.open();
    busy.agent.close(CloseMode::drain());
  });
  asked.wait();
  EXPECT_TRUE(close_in_time(busy.agent, support::deadline_is_now(), busy).has_value());
  busy.let_go();
  patient.join();
}

enum class Work { queued, delayed, running, adopting, suspended_on_task, suspended_on_foreign };
enum class Mode { drain, abort, deadline };

struct Case {
  Work work;
  Mode mode;
};

std::string name_of(const testing::TestParamInfo<Case>& test) {
  const char* const works[] = {"queued",   "delayed",           "running",
                               "adopting", "suspended_on_task", "suspended_on_foreign"};
  const char* const modes[] = {"drain", "abort", "deadline"};
  return std::string(works[static_cast<int>(test.param.work)]) + "_" +
         modes[static_cast<int>(test.param.mode)];
}

Promise<int> wait_for(Promise<int> source, std::shared_ptr<int> /*frame*/) {
  const int value = co_await source;
  co_return value;
}

class Lif1Matrix : public testing::TestWithParam<Case> {
 protected:
  static CloseMode mode() {
    switch (GetParam().mode) {
      case Mode::drain:
        return CloseMode::drain();
      case Mode::abort:
        return CloseMode::abort();
      case Mode::deadline:
        break;
    }
    return CloseMode::drain_until(Clock::now() + 5ms);
  }
  [[nodiscard]] Promise<int> start() {
    switch (GetParam().work) {
      case Work::queued:
        return scheduler.post_task([probe = probe] { return *probe; });
      case Work::delayed:
        return scheduler.post_task([probe = probe] { return *probe; }, {.delay = 1h});
      case Work::running:
        return busy.promise;
      case Work::adopting:
        return scheduler.post_task([probe = probe, source = foreign.promise] { return source; });
      case Work::suspended_on_task:
        return scheduler.post_task([probe = probe, scheduler = scheduler] {
          return wait_for(scheduler.post_task([] { return 1; }, {.delay = 1h}), probe);
        });
      case Work::suspended_on_foreign:
        return scheduler.post_task(
            [probe = probe, source = foreign.promise] { return wait_for(source, probe); });
    }
    return busy.promise;
  }

  const std::shared_ptr<int> probe = std::make_shared<int>(3);
  PromiseWithResolver<int> foreign = Promise<int>::with_resolver();
  BusyAgent busy;
  Scheduler scheduler = busy.scheduler;
};

// Every result settles, nothing leaks, nothing hangs.
TEST_P(Lif1Matrix,
       WPT_MT_12_close_when_in_any_mode_then_every_promise_settles_and_nothing_is_left) {
  auto promise = std::make_optional(start());
  std::thread closer([this] { busy.agent.close(mode()); });
  busy.let_go();
  closer.join();
  busy.agent.close(CloseMode::drain());
  foreign.resolver.resolve(2);
  EXPECT_TRUE(promise->wait_for(test::patience));
  promise.reset();
  EXPECT_EQ(probe.use_count(), 1);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto work : {Work::queued, Work::delayed, Work::running, Work::adopting,
                          Work::suspended_on_task, Work::suspended_on_foreign}) {
    for (const auto mode : {Mode::drain, Mode::abort, Mode::deadline})
      cases.push_back({work, mode});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Lif1Matrix, testing::ValuesIn(all_cases()), name_of);

// Posts that race with a close are run or refused, never lost.
TEST(Lif1Race, WPT_MT_13_post_when_an_agent_closes_meanwhile_then_every_promise_settles) {
  for (int round = 0; round < 20; ++round) {
    Agent agent;
    std::vector<std::thread> posters;
    std::atomic<int> unsettled{0};
    std::atomic<int> started{0};
    for (int i = 0; i < 3; ++i) {
      posters.emplace_back([&] {
        const Scheduler scheduler = agent.scheduler();
        ++started;
        for (;;) {
          const auto promise = scheduler.post_task([] { return 1; });
          if (!promise.wait_for(test::patience)) ++unsettled;
          if (promise.status() == PromiseStatus::rejected) break;
        }
      });
    }
    while (started.load() < 3) std::this_thread::yield();
    agent.close(round % 2 == 0 ? CloseMode::drain() : CloseMode::abort());
    for (auto& poster : posters) poster.join();
    EXPECT_EQ(unsettled.load(), 0);
  }
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
