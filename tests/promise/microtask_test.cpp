// Rule: YLD-4: microtasks are FIFO and run to exhaustion after each task.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::ErrorLog;
using test::LoopTest;
using test::Trace;

class Yld4Microtask : public LoopTest {};

TEST_F(Yld4Microtask, queue_microtask_when_in_a_task_then_runs_after_it_in_order) {
  run_task([this] {
    queue_microtask(note("1"));
    queue_microtask(note("2"));
    trace.emplace_back("end of task");
  });
  EXPECT_EQ(trace, (Trace{"end of task", "1", "2"}));
}

TEST_F(Yld4Microtask, queue_microtask_when_in_a_microtask_then_runs_in_the_same_checkpoint) {
  scheduler.post([this] {
    queue_microtask([this] {
      trace.emplace_back("1");
      queue_microtask(note("3"));
    });
    queue_microtask(note("2"));
  });
  scheduler.post(note("next task"));
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"1", "2", "3", "next task"}));
}

TEST_F(Yld4Microtask, queue_microtask_when_a_more_urgent_task_waits_then_still_runs_first) {
  run_task([this] {
    scheduler.post(note("urgent"), {.priority = TaskPriority::user_blocking});
    queue_microtask(note("microtask"));
  });
  EXPECT_EQ(trace, (Trace{"microtask", "urgent"}));
}

TEST_F(Yld4Microtask, queue_microtask_when_one_throws_then_reported_and_the_others_run) {
  const ErrorLog log;
  run_task([this] {
    queue_microtask([] { throw std::runtime_error("in a microtask"); });
    queue_microtask(note("other"));
  });
  EXPECT_EQ(trace, (Trace{"other"}));
  const auto entries = ErrorLog::take();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].origin, ErrorOrigin::microtask);
  EXPECT_EQ(entries[0].reason.what(), "in a microtask");
}

TEST_F(Yld4Microtask, queue_microtask_when_off_an_agent_then_not_allowed_and_the_callback_goes) {
  const auto probe = std::make_shared<int>();
  EXPECT_THROW(queue_microtask([probe] {}), NotAllowedError);
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Yld4Microtask, queue_microtask_when_it_has_run_then_its_callback_is_destroyed) {
  const auto probe = std::make_shared<int>();
  run_task([probe] { queue_microtask([probe] {}); });
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Yld4Microtask, queue_microtask_when_the_callback_is_move_only_then_accepted) {
  int seen = 0;
  run_task(
      [&seen] { queue_microtask([&seen, value = std::make_unique<int>(3)] { seen = *value; }); });
  EXPECT_EQ(seen, 3);
}

TEST_F(Yld4Microtask,
       reaction_when_settled_by_another_thread_then_runs_without_waiting_for_a_task) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  run_task([this, promise] { static_cast<void>(promise.then(note("reaction"))); });
  test::on_plain_thread([&resolver] { resolver.resolve(); });
  EXPECT_TRUE(trace.empty());
  EXPECT_EQ(loop.run_until_idle(), 0U);  // no task ran
  EXPECT_EQ(trace, (Trace{"reaction"}));
}

TEST_F(Yld4Microtask,
       reaction_when_settled_by_another_thread_then_older_than_tasks_not_yet_picked) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  run_task([this, promise] { static_cast<void>(promise.then(note("reaction"))); });
  scheduler.post(note("task"), {.priority = TaskPriority::user_blocking});
  test::on_plain_thread([&resolver] { resolver.resolve(); });
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"reaction", "task"}));
}

// A callback that is only destroyed may settle something, too.
TEST_F(Yld4Microtask,
       reaction_when_the_destructor_of_an_aborted_callback_settles_then_runs_before_idle) {
  AbortController controller;
  auto [promise, resolver] = Promise<void>::with_resolver();
  run_task(
      [&] { static_cast<void>(promise.then([] {}, [this](const Reason&) { note("ran")(); })); });
  scheduler.post([dropped = std::move(resolver)] {},
                 {.signal = controller.signal(), .delay = std::chrono::hours(1)});
  loop.run_until_idle();
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"ran"}));
}

}  // namespace
}  // namespace heist
