// Rule: PRO-1 (reactions), YLD-4 (where and when they run).
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::LoopTest;
using test::Trace;

class Pro1Reactions : public LoopTest {};

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_several_on_one_promise_then_all_run_in_order_of_registration) {
  run_task([this] {
    const auto promise = scheduler.post_task([] { return 1; });
    for (const char* name : {"first", "second", "third"}) {
      static_cast<void>(promise.then([this, name](int) { trace.emplace_back(name); }));
    }
  });
  EXPECT_EQ(trace, (Trace{"first", "second", "third"}));
}

// Rule: PRO-1, YLD-4
TEST_F(Pro1Reactions, then_when_promise_is_settled_then_runs_as_a_microtask_not_at_once) {
  run_task([this] {
    static_cast<void>(Promise<void>::resolved().then(note("reaction")));
    trace.emplace_back("end of task");
  });
  EXPECT_EQ(trace, (Trace{"end of task", "reaction"}));
}

// Rule: YLD-4
TEST_F(Pro1Reactions, then_when_next_task_is_queued_then_reactions_and_theirs_run_before_it) {
  scheduler.post([this] {
    static_cast<void>(Promise<void>::resolved().then(note("1")).then(note("2")).then(note("3")));
    queue_microtask(note("microtask"));
  });
  scheduler.post(note("next task"), {.priority = TaskPriority::user_blocking});
  scheduler.post(note("last task"));
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"next task", "1", "microtask", "2", "3", "last task"}));
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_callback_returns_a_value_then_the_result_has_it) {
  auto result = Promise<std::string>::resolved("");
  run_task([&] {
    result = scheduler.post_task([] { return 20; })
                 .then([](int value) { return value + 1; })
                 .then([](const int& value) { return std::to_string(value); });
  });
  EXPECT_EQ(result.get(), "21");
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_callback_returns_a_promise_then_the_result_is_flat) {
  auto result = Promise<int>::resolved(0);
  run_task([&] {
    result = Promise<int>::resolved(1).then(
        [this](int value) { return scheduler.post_task([value] { return value + 1; }); });
  });
  EXPECT_EQ(result.get(), 2);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_value_is_move_only_then_each_reaction_sees_it) {
  int sum = 0;
  run_task([&] {
    const auto promise = scheduler.post_task([] { return std::make_unique<int>(4); });
    const auto add = [&sum](const std::unique_ptr<int>& value) { sum += *value; };
    static_cast<void>(promise.then(add));
    static_cast<void>(promise.then(add));
  });
  EXPECT_EQ(sum, 8);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_value_is_a_reference_then_the_same_object_arrives) {
  int target = 1;
  const int* seen = nullptr;
  auto result = Promise<int&>::resolved(target);
  run_task([&] {
    result = scheduler.post_task([&target]() -> int& { return target; })
                 .then([&seen](int& value) -> int& {
                   seen = &value;
                   return value;
                 });
  });
  EXPECT_EQ(seen, &target);
  EXPECT_EQ(&result.get(), &target);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_rejected_then_on_fulfilled_is_skipped_and_the_reason_passes) {
  bool called = false;
  auto result = Promise<void>::resolved();
  Reason thrown;
  run_task([&] {
    const auto source = scheduler.post_task([]() -> int { throw std::runtime_error("no"); });
    result = source.then([&called](int) { called = true; });
    static_cast<void>(
        source.then([](int) {}, [&thrown](const Reason& reason) { thrown = reason; }));
  });
  EXPECT_FALSE(called);
  EXPECT_EQ(result.status(), PromiseStatus::rejected);
  EXPECT_TRUE(result.reason());
  EXPECT_EQ(result.reason(), thrown);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_on_rejected_returns_then_the_result_is_fulfilled) {
  auto result = Promise<int>::resolved(0);
  run_task([&] {
    result = scheduler.post_task([]() -> int { throw std::runtime_error("no"); })
                 .then([](int value) { return value; }, [](const Reason&) { return -1; });
  });
  EXPECT_EQ(result.get(), -1);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_on_rejected_returns_a_promise_then_it_is_adopted) {
  auto result = Promise<int>::resolved(0);
  run_task([&] {
    result = Promise<int>::rejected(Reason("no"))
                 .then([](int value) { return value; },
                       [this](const Reason&) { return scheduler.post_task([] { return 5; }); });
  });
  EXPECT_EQ(result.get(), 5);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_fulfilled_then_on_rejected_is_not_called) {
  run_task([this] {
    static_cast<void>(
        Promise<int>::resolved(1).then([this](int) { trace.emplace_back("fulfilled"); },
                                       [this](const Reason&) { trace.emplace_back("rejected"); }));
  });
  EXPECT_EQ(trace, (Trace{"fulfilled"}));
}

// Rule: PRO-1
TEST_F(Pro1Reactions,
       then_when_on_fulfilled_throws_then_the_result_rejects_and_its_on_rejected_is_not_called) {
  auto result = Promise<void>::resolved();
  bool called = false;
  run_task([&] {
    result = Promise<int>::resolved(1).then([](int) { throw std::out_of_range("thrown"); },
                                            [&called](const Reason&) { called = true; });
  });
  EXPECT_FALSE(called);
  EXPECT_THROW(result.get(), std::out_of_range);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_its_result_is_dropped_then_it_runs_all_the_same) {
  scheduler.post([this] { static_cast<void>(scheduler.post_task([] {}).then(note("ran"))); });
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"ran"}));
}

// Rule: PRO-1
TEST_F(Pro1Reactions,
       then_when_it_has_run_then_its_callbacks_are_destroyed_though_the_result_is_held) {
  const auto probe = std::make_shared<int>();
  auto result = Promise<void>::resolved();
  run_task([&] { result = Promise<void>::resolved().then([probe] {}, [probe](const Reason&) {}); });
  EXPECT_TRUE(result.settled());
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: PRO-1
TEST_F(Pro1Reactions, then_when_chain_is_done_then_the_last_result_keeps_no_earlier_value) {
  const auto probe = std::make_shared<int>();
  auto result = Promise<int>::resolved(0);
  run_task([&] {
    result = Promise<std::shared_ptr<int>>::resolved(probe).then(
        [](const std::shared_ptr<int>&) { return 1; });
  });
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: YLD-4
TEST_F(Pro1Reactions, then_when_on_a_plain_thread_without_a_scheduler_then_not_allowed) {
  const auto probe = std::make_shared<int>();
  const auto promise = scheduler.post_task([] { return 1; });
  EXPECT_THROW(static_cast<void>(promise.then([probe](int) {})), NotAllowedError);
  EXPECT_EQ(probe.use_count(), 1);
  loop.run_until_idle();
  EXPECT_EQ(promise.get(), 1);
}

// Rule: YLD-4
TEST(Pro1ThenScheduler,
     then_when_registered_from_a_plain_thread_then_runs_on_that_schedulers_agent) {
  const Agent agent;
  const Scheduler scheduler = agent.scheduler();
  const auto result = Promise<int>::resolved(1).then(
      agent.scheduler(), [](int value) { return std::pair(value, std::this_thread::get_id()); });
  const auto home = scheduler.post_task([] { return std::this_thread::get_id(); });
  EXPECT_EQ(result.get(), (std::pair(1, home.get())));
}

// Rule: YLD-4
TEST(Pro1ThenScheduler, then_when_the_scheduler_is_not_const_then_it_is_no_callback) {
  const Agent agent;
  Scheduler scheduler = agent.scheduler();
  EXPECT_EQ(Promise<int>::resolved(1).then(scheduler, [](int value) { return value; }).get(), 1);
  EXPECT_EQ(Promise<int>::resolved(2).then(agent.scheduler(), [](int v) { return v; }).get(), 2);
}

// Rule: YLD-4
TEST(Pro1ThenScheduler, then_when_promise_is_of_another_agent_then_runs_on_the_named_one) {
  const Agent source;
  const Agent target;
  const Scheduler target_scheduler = target.scheduler();
  const auto promise = source.scheduler().post_task([] { return std::this_thread::get_id(); });
  const auto ran_on =
      promise.then(target_scheduler, [](std::thread::id) { return std::this_thread::get_id(); });
  const auto home = target.scheduler().post_task([] { return std::this_thread::get_id(); });
  EXPECT_EQ(ran_on.get(), home.get());
  EXPECT_NE(ran_on.get(), promise.get());
}

// Rule: YLD-4
TEST(Pro1ThenScheduler,
     then_when_registered_on_an_agent_and_settled_elsewhere_then_runs_on_that_agent) {
  const Agent agent;
  const Scheduler scheduler = agent.scheduler();
  auto [promise, resolver] = Promise<int>::with_resolver();
  const auto ran_on = scheduler.post_task(
      [promise] { return promise.then([](int) { return std::this_thread::get_id(); }); });
  const auto home = scheduler.post_task([] { return std::this_thread::get_id(); }).get();
  resolver.resolve(1);  // here, on a plain thread
  EXPECT_EQ(ran_on.get(), home);
}

// Rule: PRO-1
TEST(Pro1ThenScheduler,
     then_when_rejected_and_registered_from_a_plain_thread_then_on_rejected_runs) {
  const Agent agent;
  const Scheduler scheduler = agent.scheduler();
  const auto failing = scheduler.post_task([]() -> int { throw std::runtime_error("no"); });
  const auto result =
      failing.then(scheduler, [](int value) { return value; }, [](const Reason&) { return -1; });
  EXPECT_EQ(result.get(), -1);
}

// Rule: PRO-1, ORD-2 (one thread's registrations keep their order)
TEST(Pro1ThenScheduler, then_when_many_are_registered_by_one_thread_then_run_in_that_order) {
  constexpr int count = 100;
  const Agent agent;
  const Scheduler scheduler = agent.scheduler();
  std::vector<int> order;
  auto last = Promise<void>::resolved();
  auto [promise, resolver] = Promise<void>::with_resolver();
  for (int i = 0; i < count; ++i) {
    last = promise.then(scheduler, [&order, i] { order.push_back(i); });
  }
  resolver.resolve();
  last.get();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace heist
